import { closeSync, openSync, readSync } from 'node:fs';
import type { Platform } from './platform.ts';
import { statusOf } from './file-status.ts';
import type { StoredFile } from './stored-file.ts';

/** What kind of text a passage is. Source: the official client. */
export type PassageSubtype = 'title' | 'subtitle' | 'paragraph' | 'blockquote' | 'list' | 'table' | 'code';

/** A piece of a file that can be found. */
export interface Passage {
  readonly content: string;
  readonly subtype: PassageSubtype;
  /** The place in the file, from 0. */
  readonly position: number;
  /** The headings that it stands under, the outermost first. */
  readonly breadcrumb: readonly string[];
}

/** More of a file is not read: looking for text is for trying things out, not for measuring. */
const READ_BYTES_MAX = 1_000_000;

/** What a passage has in an answer. Source: platform-operations.md, Search and Passages of a file. */
export function describePassageMeta({ subtype, position }: Passage): object {
  return { type: 'chunk', subtype, position };
}

/**
 * The passages of a file: its paragraphs, once it is indexed. Only of texts: what the platform gets out of a PDF or a
 * document of an office program is not played.
 */
export function readPassages(file: StoredFile, platform: Platform): Passage[] {
  const { status } = statusOf(file, platform.conditions, platform.now());
  if (status !== 'indexing_completed' || !isText(file.details.contentType)) return [];
  const text = readStart(platform.content.pathOf(file.uploadId));
  return splitText(file.details.contentType === 'text/html' ? withoutMarkup(text) : text);
}

/** A text in its paragraphs. */
function splitText(text: string): Passage[] {
  const headings: string[] = [];
  return text
    .replaceAll(/\r\n?/g, '\n')
    .split(/\n[ \t]*\n/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((content, position) => {
      const level = /^(#{1,6}) /.exec(content)?.[1]?.length ?? null;
      if (level !== null) headings.splice(level - 1, Infinity, content.replace(/^#+ +/, ''));
      const above = level === null ? headings : headings.slice(0, level - 1);
      return { content, subtype: subtypeOf(content), position, breadcrumb: [...above] };
    });
}

function subtypeOf(content: string): PassageSubtype {
  if (/^# /.test(content)) return 'title';
  if (/^##/.test(content)) return 'subtitle';
  if (/^```/.test(content)) return 'code';
  if (/^>/.test(content)) return 'blockquote';
  if (/^\|/.test(content)) return 'table';
  return /^([-*+]|\d+\.) /.test(content) ? 'list' : 'paragraph';
}

function isText(contentType: string): boolean {
  return /^(text\/|application\/json)/.test(contentType);
}

/** Headings and paragraphs stay apart. */
function withoutMarkup(html: string): string {
  return html
    .replaceAll(/<(script|style)\b.*?<\/\1>/gis, '')
    .replaceAll(/<h([1-6])\b[^>]*>/gi, (_tag, level: string) => `\n\n${'#'.repeat(Number(level))} `)
    .replaceAll(/<\/(h[1-6]|p|div|li|tr|pre|blockquote)>|<br\s*\/?>/gi, '\n\n')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(lt|gt|quot|nbsp|amp);/g, (_entity, name: string) => ENTITIES.get(name) ?? '');
}

const ENTITIES = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['nbsp', ' '],
  ['amp', '&'],
]);

function readStart(path: string): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(READ_BYTES_MAX);
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, READ_BYTES_MAX, 0));
  } finally {
    closeSync(file);
  }
}
