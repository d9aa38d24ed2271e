import * as z from 'zod';
import { byteRate } from './byte-rate.ts';
import { clusterSchema } from './cluster-schema.ts';
import { notifySchema } from './notify-schema.ts';
import { ruleSchema } from './rule-schema.ts';
import { filled, secret, text, timer, whole } from './schema-fields.ts';
import {
  LISTEN_PATTERN,
  readExtension,
  readFilePath,
  readBotId,
  readIgnorePattern,
  readKeyPrefix,
  readListenAddress,
  readName,
  readPath,
} from './values.ts';
import { platformSchema } from './platform-schema.ts';

export const sourceSchema = z.strictObject({
  name: text(readName, {
    description: 'Name of the source in rules, output and records. Default: the last part of its directory.',
    examples: ['docs'],
  }).exactOptional(),
  directory: text(readPath, {
    description: 'The directory to sync, relative to this file.',
    examples: ['./docs'],
  }),
  keyPrefix: text(readKeyPrefix, {
    description: 'What comes before the relative path in the key of every file.',
    examples: ['docs/'],
  }).prefault(''),
  botId: text(readBotId, {
    description: 'The bot for these files. Default: platform.botId.',
    examples: ['8f2b6c1e-4d55-4c9e-8a5e-0c7d5b1f2a33'],
  }).exactOptional(),
  token: secret({
    description:
      'The token for its bot, if it is not platform.token: in an environment variable ("env:NAME"), a file ("file:PATH") or a systemd credential ("credential:NAME").',
    examples: ['env:BOTSYNC_SALES_TOKEN', 'file:/etc/botsync/sales-token'],
  }).exactOptional(),
  ignore: z
    .array(text(readIgnorePattern, { description: 'One line in .gitignore syntax.' }))
    .meta({
      description:
        'Files to ignore, in .gitignore syntax, after the built-in patterns; "!" includes files again.',
      examples: [['drafts/', '*.tmp']],
    })
    .prefault([]),
  symlinks: z
    .enum(['skip', 'inside', 'follow'])
    .meta({
      description:
        'Symbolic links: "skip" ignores them, "inside" follows those that stay within the directory, "follow" follows all.',
    })
    .default('skip'),
});

export const watchSchema = z.strictObject({
  settle: timer({ description: 'A changed file is sent when it is unchanged for this long.' }).prefault(
    '500ms',
  ),
  maxDelay: timer({ description: 'A file that keeps changing is tried after this long.' }).prefault('10s'),
  rescan: timer({
    description: 'How often everything is rescanned, in case an event was missed.',
  }).prefault('15m'),
  poll: z
    .boolean()
    .meta({
      description:
        'Use no file system events but rescan everything every pollInterval, for network file systems.',
    })
    .default(false),
  pollInterval: timer({ description: 'How often to rescan when poll is true.' }).prefault('10s'),
});

const limits = z.strictObject({
  indexBytes: whole({ description: 'Largest file that may be indexed, bytes.' }).default(95_000_000),
  fileBytes: whole({ description: 'Largest file that is sent at all, bytes.' }).default(1_000_000_000),
  indexableExtensions: z
    .array(text(readExtension, { description: 'An extension, without the dot.' }))
    .meta({
      description: 'Extensions that the platform is known to index; indexing others only causes a warning.',
    })
    .prefault(['pdf', 'html', 'htm', 'txt', 'md', 'mdx', 'doc', 'docx']),
});

export const removalsSchema = z.strictObject({
  mode: z
    .enum(['keep', 'expire', 'delete'])
    .meta({
      description:
        'What happens on the platform when a file is deleted here: "keep" leaves it there, "expire" empties it so that it expires within minutes, "delete" deletes it if the platform serves that, and otherwise does the same as "expire".',
    })
    .default('keep'),
  delay: timer({
    description:
      'How long the service waits before it removes a deleted file. A single pass removes at once.',
  }).prefault('1m'),
  maxCount: whole({ description: 'More removals within an hour halt the source.' }).default(100),
  maxFraction: z
    .number()
    .gt(0)
    .max(1)
    .meta({
      description:
        'A larger part of the source removed within an hour (and more than 10 files) halts the source.',
    })
    .default(0.5),
});

const upload = z.strictObject({
  concurrency: whole({ description: 'Files sent at the same time.' }, 256).default(8),
  attempts: whole(
    {
      description:
        'How often one content of a file is tried before it waits for a change or the next rescan; outages do not count.',
    },
    100,
  ).default(5),
  stallTimeout: timer({
    description: 'A transfer without progress for this long is stopped and retried.',
  }).prefault('30s'),
  giveUpAfter: timer({
    description:
      '"--once" gives up when the platform was unreachable for this long, for one file or for all.',
  }).prefault('2m'),
  maxBytesPerSecond: byteRate({
    description:
      'Speed limit for all uploads together, bytes per second, or limits by hours of the day (local time); null: no limit.',
    examples: [1_000_000, '1MB', { '08:00-18:00': '1MB' }],
  })
    .nullable()
    .prefault(null),
  maxRequestsPerSecond: whole({
    description: 'Maximum requests per second; a file takes two; null: no limit.',
  })
    .nullable()
    .default(null),
});

const confirm = z.strictObject({
  wait: timer(
    {
      description: 'How long a single pass waits until the platform confirms the files that were sent.',
    },
    0,
  ).prefault('30s'),
});

const verify = z.strictObject({
  every: timer(
    {
      description:
        'How often the service compares all files on the platform with what was sent; null: never.',
    },
    60_000,
  )
    .nullable()
    .prefault('24h'),
  repair: z
    .boolean()
    .meta({
      description: 'Whether missing or changed files are repaired. Files of others are never touched.',
    })
    .default(true),
});

export const serviceSchema = z.strictObject({
  listen: text(readListenAddress, {
    description:
      'IP address and port at which the service shows a page, and answers /healthz, /readyz, /metrics and /status over HTTP; null: nowhere.',
    examples: ['127.0.0.1:9464', '[::1]:9464'],
    pattern: LISTEN_PATTERN,
  })
    .nullable()
    .prefault(null),
  control: secret({
    description:
      'Where the secret is that lets people act from the page: approve, rescan, retry. It has at least 16 characters; null: nobody can.',
    examples: ['file:/etc/botsync/control', 'env:BOTSYNC_CONTROL'],
  })
    .nullable()
    .prefault(null),
  hangTimeout: timer(
    {
      description: 'After this time the service ends itself if a file system does not answer.',
    },
    1000,
  ).prefault('5m'),
  reloadOnChange: z
    .boolean()
    .meta({
      description:
        'Whether the service reloads automatically when this file, or a file that contains a secret, has changed.',
    })
    .default(true),
});

export const configSchema = z
  .strictObject({
    $schema: z
      .string()
      .meta({ description: 'Address of this schema, for editors.', examples: ['./config.schema.json'] })
      .exactOptional(),
    platform: platformSchema.meta({ description: 'The platform, the bot and the credentials.' }).prefault({}),
    sources: filled(
      sourceSchema.meta({ description: 'A directory to sync.' }),
      'is empty, so there is nothing to sync; add a source such as { "directory": "./docs", "keyPrefix": "docs/" }',
    ).meta({
      description: 'The directories to sync.',
      examples: [[{ directory: './docs', keyPrefix: 'docs/' }]],
      minItems: 1,
    }),
    rules: z
      .array(ruleSchema.meta({ description: 'Settings for the files that match.' }))
      .meta({
        description:
          'The settings of each file. Every rule that matches applies, in order: later ones win, tags and metadata merge.',
        examples: [[{ match: ['*.md', '*.pdf'], index: true }]],
      })
      .prefault([]),
    limits: limits.meta({ description: "The platform's limits." }).prefault({}),
    removals: removalsSchema
      .meta({ description: 'What happens on the platform when a file is deleted here.' })
      .prefault({}),
    upload: upload.meta({ description: 'How files are sent.' }).prefault({}),
    confirm: confirm
      .meta({ description: 'How long a pass waits until the platform confirms what was sent.' })
      .prefault({}),
    verify: verify
      .meta({ description: 'How often all files on the platform are compared with what was sent.' })
      .prefault({}),
    watch: watchSchema
      .meta({
        description: 'How changes are found while botsync runs as a service.',
      })
      .prefault({}),
    service: serviceSchema
      .meta({ description: 'How the service is monitored, and when it reloads.' })
      .prefault({}),
    notify: notifySchema
      .meta({ description: 'Notifications in a conversation. Without it there are none.' })
      .exactOptional(),
    cluster: clusterSchema
      .meta({
        description: 'Several hosts that sync together, over a database. Without it this host is alone.',
      })
      .exactOptional(),
    stateFile: text(readFilePath, {
      description: 'Where botsync keeps its records, relative to this file.',
      examples: ['.botsync/state.db'],
    }).prefault('.botsync/state.db'),
  })
  .meta({ title: 'botsync configuration', allowComments: true, allowTrailingCommas: true });

/** A valid configuration file with defaults, its texts parsed. */
export type WrittenConfig = z.output<typeof configSchema>;
