import { homedir } from 'node:os';
import { defaultConfig } from './global-options.ts';
import type { Command } from './help/command-catalog.ts';
import { complete, type Candidate } from './help/completions.ts';
import { print, shown } from './render/output.ts';

/** The shells that completion is for. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
/** A shell that completion is for. */
type Shell = (typeof SHELLS)[number];

/** What the printed scripts call botsync with: this, the shell, and the words of the line up to the cursor. */
export const COMPLETION_REQUEST = '--complete';

/** The user's shell as the environment names it; bash when it names another. */
export function usersShell(): Shell {
  const login = process.env['SHELL'] ?? '';
  return SHELLS.find((shell) => login.endsWith(shell)) ?? 'bash';
}

/** The script that teaches a shell to complete botsync's command lines. */
export function completionScript(shell: Shell): string {
  return SCRIPTS[shell];
}

/**
 * Answers a shell: the kind of what comes next, then a candidate a line. Nothing is said of mistakes, as what is being
 * typed is seldom right yet.
 */
export async function answerShell([asking, ...words]: readonly string[], root: Command): Promise<void> {
  const shell = SHELLS.find((one) => one === asking);
  const line = shell === 'bash' ? joinAtEquals(words) : words;
  const { prefix, completions } = complete(line, root);
  switch (completions.kind) {
    case 'files':
    case 'directories':
      print(completions.kind);
      return;
    case 'sources':
      answer(shell, prefix, line, await sourceCandidates(completions.config));
      return;
    case 'words':
      answer(shell, prefix, line, completions.candidates);
  }
}

/** fish replaces the whole word, bash and zsh what follows the equals sign. */
function answer(
  shell: Shell | undefined,
  prefix: string,
  words: readonly string[],
  candidates: readonly Candidate[],
): void {
  const begun = (words.at(-1) ?? '').slice(prefix.length);
  print('words');
  for (const { word, description } of candidates.filter((one) => one.word.startsWith(begun))) {
    switch (shell) {
      case 'zsh':
        print(`${word.replaceAll(/[\\:]/gu, '\\$&')}${description === '' ? '' : `:${description}`}`);
        break;
      case 'fish':
        print(`${prefix}${word}\t${description}`);
        break;
      case 'bash':
      case undefined:
        print(word);
    }
  }
}

/** bash takes an equals sign for a word of its own. */
function joinAtEquals(words: readonly string[]): string[] {
  const joined: string[] = [];
  for (const word of words) {
    const last = joined.at(-1);
    const isValue = last?.startsWith('--') === true && (word === '=' || last.endsWith('='));
    if (isValue) joined[joined.length - 1] = `${last}${word}`;
    else joined.push(word);
  }
  return joined;
}

/** The sources of a configuration; none where it cannot be read. */
async function sourceCandidates(config: string | null): Promise<Candidate[]> {
  const { loadConfig } = await import('../config/load-config.ts');
  const file = config ?? defaultConfig();
  const loaded = loadConfig(file.replace(/^~(?=\/)/u, homedir()));
  if (loaded.kind === 'invalid') return [];
  const { sources } = loaded.config;
  return sources.map(({ name, directory }) => ({ word: shown(name), description: shown(directory) }));
}

const BASH = `# Completion of botsync for bash. For every new shell:
#   botsync completion bash >> ~/.bashrc
_botsync()
{
    local kind line
    COMPREPLY=()
    {
        read -r kind
        while IFS= read -r line; do COMPREPLY+=("$(printf '%q' "$line")"); done
    } < <("$1" --complete bash "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    case "$kind" in
        # Without candidates bash completes files.
        files) ;;
        directories) compopt -o dirnames +o default +o bashdefault 2>/dev/null ;;
        *) compopt +o default +o bashdefault 2>/dev/null ;;
    esac
}
complete -o bashdefault -o default -F _botsync botsync
`;

const ZSH = `#compdef botsync
# Completion of botsync for zsh. For every new shell:
#   botsync completion zsh >> ~/.zshrc
_botsync()
{
    local -a answer
    answer=("\${(@f)$("\${(Q)words[1]}" --complete zsh "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    [[ "\${words[CURRENT]}" == --*=* ]] && compset -P 1 '*='
    local kind="\${answer[1]}"
    shift answer
    case "$kind" in
        files) _files ;;
        directories) _files -/ ;;
        *) (( \${#answer} )) && _describe botsync answer ;;
    esac
}
if [[ "\${zsh_eval_context[-1]}" == loadautofunc ]]; then
    _botsync "$@"
else
    # A ~/.zshrc that has not started the completion system yet.
    (( \${+functions[compdef]} )) || { autoload -Uz compinit && compinit -i; }
    compdef _botsync botsync
fi
`;

const FISH = `# Completion of botsync for fish. For every new shell:
#   botsync completion fish > ~/.config/fish/completions/botsync.fish
function __botsync_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l answer ($words[1] --complete fish $words[2..-1] 2>/dev/null)
    # Of --config=FILE the file is completed.
    set -l prefix (string match -r -- '^--[^=]+=' $words[-1])
    set -l path (string replace -- "$prefix" '' $words[-1])
    switch "$answer[1]"
        case files
            for found in (__fish_complete_path $path)
                printf '%s\\n' "$prefix$found"
            end
        case directories
            for found in (__fish_complete_directories $path '')
                printf '%s\\n' "$prefix$found"
            end
        case '*'
            test (count $answer) -gt 1; and printf '%s\\n' $answer[2..-1]
    end
end
complete -c botsync -f -a '(__botsync_complete)'
`;

const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
