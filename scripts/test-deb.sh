#!/usr/bin/env bash
# Does with the Debian package what administrators do, in a Debian 13 of its own that systemd boots: install, run as a
# service, upgrade while it runs, run by the timer, remove, purge. `npm run test:deb`; needs root, mmdebstrap, dpkg-deb and
# systemd-nspawn, and 500 MB in $TMPDIR. MIRROR
# names the mirror to install Debian from, ROOT_TAR an archive of such a Debian, which saves making one.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
root=$work/root
leader=
# Ends what was started, and removes what was made.
clean_up() {
    [ -z "$leader" ] || kill -TERM "$container" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -rf --one-file-system "$work"
}
trap clean_up EXIT

say() { printf '\n== %s\n' "$*"; }
fail() {
    echo "FAILED: $*" >&2
    inside journalctl --no-pager --lines 40 >&2 || true
    exit 1
}
# Runs a command in the container, with nothing of this shell's environment.
inside() {
    nsenter --target "$leader" --all -- env --ignore-environment \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 "$@"
}
# Waits until a command succeeds there, for a minute at most.
until_inside() {
    local end=$((SECONDS + 60))
    until inside "$@" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$end" ] || fail "did not happen within a minute: $*"
        sleep 0.2
    done
}
expect() { # what it is, what it should be, a command in the container
    local what=$1 wanted=$2 got
    shift 2
    got=$(inside "$@" 2>&1) || true
    [ "$got" = "$wanted" ] || fail "$what: '$got' where '$wanted' was expected"
    echo "ok: $what"
}
as_botsync() { inside runuser -u botsync -- botsync "$@"; }
# How many files the platform has in all.
files_there() {
    inside sh -c 'TOKEN=$(cat /etc/botsync/token) node -e "
      fetch(\"http://127.0.0.1:8787/v1/files\", { headers: { authorization: \"Bearer \" + process.env.TOKEN, \"x-bot-id\": \"bot-1\" } })
        .then((answer) => answer.json()).then(({ files }) => console.log(files.length))"'
}
expect_files() {
    local end=$((SECONDS + 60))
    until [ "$(files_there)" = "$1" ]; do
        [ "$SECONDS" -lt "$end" ] || fail "the platform has $(files_there) files, not $1"
        sleep 0.2
    done
    echo "ok: the platform has $1 files"
}

say 'Packages'
version=$(node -p 'require("./package.json").version')
package=$work/$(basename "$(node scripts/package-deb.js --architecture "$(dpkg --print-architecture)" --output "$work")")
# The next version: the same files under another number.
dpkg-deb --raw-extract "$package" "$work/next"
sed -i "s/^Version: .*/Version: $version-2/" "$work/next/DEBIAN/control"
dpkg-deb --root-owner-group -Zxz --build "$work/next" "$work/next.deb" >/dev/null

say 'A Debian 13'
if [ -n "${ROOT_TAR-}" ]; then mkdir "$root" && tar -xf "$ROOT_TAR" -C "$root"; else mmdebstrap --quiet --variant=minbase --include=systemd,systemd-sysv,dbus,nodejs,bash-completion trixie "$root" ${MIRROR:+"$MIRROR"}; fi
cp "$package" "$root/root/botsync.deb"
cp "$work/next.deb" "$root/root/next.deb"
UNIFIED_CGROUP_HIERARCHY=1 systemd-nspawn --quiet --register=no --keep-unit --private-network -D "$root" --boot \
    </dev/null >"$work/console" 2>&1 &
container=$!
end=$((SECONDS + 60))
until leader=$(pgrep -P "$container") && inside systemctl is-system-running >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$end" ] || { cat "$work/console" >&2; exit 1; }
    sleep 0.2
done

say 'Installed, and nothing is started'
inside dpkg --install /root/botsync.deb
expect 'the service is off' $'disabled\ndisabled' systemctl is-enabled botsync.service botsync-once.timer
expect 'nothing runs' $'inactive\ninactive' systemctl is-active botsync.service botsync-once.timer
expect 'the records are the user'"'"'s alone' 'botsync:botsync 700' stat -c '%U:%G %a' /var/lib/botsync
expect 'the command' "$version" botsync --version
expect 'no file is other than was packed' '' dpkg --verify botsync
inside bash -c 'source /usr/share/bash-completion/bash_completion; source /usr/share/bash-completion/completions/botsync'

say 'A platform, a token, files'
inside sh -c 'umask 077; head -c 24 /dev/urandom | base64 >/etc/botsync/token'
inside systemd-run --quiet --unit=platform --property=LoadCredential=token:/etc/botsync/token \
    --property=StateDirectory=platform sh -c \
    'exec botsync emulator --bot bot-1 --data /var/lib/platform --token "file:$CREDENTIALS_DIRECTORY/token"'
until_inside sh -c 'TOKEN=$(cat /etc/botsync/token) node -e "fetch(\"http://127.0.0.1:8787/\").then(() => 0)"'
inside mkdir -p /srv/bot-files
inside sh -c 'echo one >/srv/bot-files/one.md; echo two >/srv/bot-files/two.md'
inside sed -i 's|"botId": "YOUR_BOT_ID",|"botId": "bot-1", "baseUrl": "http://127.0.0.1:8787",|' /etc/botsync/botsync.config.json
as_botsync sync --dry-run

say 'The service'
inside systemctl enable --now botsync.service
expect 'it runs' active systemctl is-active botsync.service
expect 'as its user' botsync sh -c 'stat --format %U "/proc/$(systemctl show --property MainPID --value botsync.service)"'
expect_files 2
inside sh -c 'echo three >/srv/bot-files/three.md'
expect_files 3
inside systemctl reload botsync.service
until_inside systemctl is-active --quiet botsync.service
before=$(inside systemctl show --property MainPID --value botsync.service)

say 'An upgrade while it runs'
inside dpkg --install /root/next.deb
expect 'the version' "$version-2" dpkg-query --show --showformat '${Version}' botsync
expect 'it runs again' active systemctl is-active botsync.service
after=$(inside systemctl show --property MainPID --value botsync.service)
[ "$before" != "$after" ] || fail 'the old process is still there'
inside grep -q '"botId": "bot-1"' /etc/botsync/botsync.config.json || fail 'the configuration was replaced'
inside sh -c 'echo four >/srv/bot-files/four.md'
expect_files 4

say 'An upgrade while it is stopped'
inside systemctl disable --now botsync.service
inside dpkg --install /root/next.deb
expect 'it stays stopped' inactive systemctl is-active botsync.service
expect 'and off' disabled systemctl is-enabled botsync.service

say 'Passes by the timer'
inside sh -c 'echo five >/srv/bot-files/five.md'
inside mkdir -p /run/systemd/system/botsync-once.timer.d
inside sh -c 'printf "[Timer]\nOnBootSec=\nOnActiveSec=1s\nRandomizedDelaySec=0\nAccuracySec=100ms\n" >/run/systemd/system/botsync-once.timer.d/soon.conf'
inside systemctl daemon-reload
inside systemctl enable --now botsync-once.timer
expect_files 5
until_inside sh -c 'systemctl show --property=ActiveState,Result botsync-once.service | tr "\n" " " | grep -qx "Result=success ActiveState=inactive "'
inside dpkg --install /root/next.deb
expect 'the timer goes on after an upgrade' active systemctl is-active botsync-once.timer

say 'Removed'
inside dpkg --remove botsync
expect 'nothing runs' inactive systemctl is-active botsync-once.timer
expect 'the configuration stays' bot-1 sh -c 'grep -o bot-1 /etc/botsync/botsync.config.json'
expect 'the records stay' /var/lib/botsync/state.db ls /var/lib/botsync/state.db
inside dpkg --install /root/next.deb
expect 'reinstalled, nothing runs' inactive systemctl is-active botsync.service

say 'Purged'
inside sh -c 'echo mine >/var/lib/botsync/mine.txt'
inside dpkg --purge botsync
expect 'the configuration and the token are gone' '' sh -c 'ls -A /etc/botsync 2>/dev/null'
expect 'the files of others stay' mine.txt ls -A /var/lib/botsync
expect 'no link of a unit is left' '' find /etc/systemd/system -name 'botsync*'
expect 'no file of the package is left' '' sh -c 'ls -d /usr/lib/botsync /usr/share/doc/botsync /usr/bin/botsync 2>/dev/null'
expect 'the sources were not touched' 5 sh -c 'ls /srv/bot-files | wc -l'

printf '\nThe Debian package does what it should.\n'
