import { z } from 'zod'
import { SandboxId, TerminalId } from '../ids.ts'
import { IsoTime } from '../time.ts'
import { defineRoute, QueryFlag } from './route.ts'
import { SandboxParams } from './sandboxes.ts'

/** Limits of terminals: cells, lines, bytes, and numbers per sandbox. */
export const terminalLimits = {
  size: { min: 1, max: 1000 },
  defaultCols: 80,
  defaultRows: 24,
  scrollbackLines: 10_000,
  maxInputBytes: 1024 * 1024,
  runningPerSandbox: 64,
  nameLength: 64,
  exitedReadableMs: 60 * 60 * 1000,
  /** Raw output stored for each terminal, in bytes; older output is dropped. */
  maxOutputBytes: 16 * 1024 * 1024,
} as const

const { min, max } = terminalLimits.size
const sizeMessage = `must be a whole number from ${min} to ${max}`
const Size = z.int(sizeMessage).min(min, sizeMessage).max(max, sizeMessage)

/** State of a terminal. `exited`: its program has ended. */
export const TerminalState = z.enum(['running', 'exited'])

/** Terminal of a sandbox. `cols` and `rows` are its size in character cells. */
export const Terminal = z.object({
  session_id: TerminalId,
  sandbox_id: SandboxId,
  command: z.string(),
  cols: z.int(),
  rows: z.int(),
  state: TerminalState,
  created_at: IsoTime,
  /** Name chosen by the user. Null if unset. */
  name: z.string().nullable(),
  /** Title set by the program (OSC 0 and 2). */
  title: z.string().nullable(),
  process: z
    .string()
    .nullable()
    .describe(
      'Foreground program, such as `vim` started from a shell. Null while the command of the terminal is in the foreground.',
    ),
  exit_code: z
    .int()
    .nullable()
    .describe(
      'Exit code of the program; 128 + N after signal N. Null while the program runs or if the code is unknown, for example after the loss of its sandbox.',
    ),
  signal: z.string().nullable().describe('Name of the signal that ended the program, such as `SIGKILL`.'),
  exited_at: IsoTime.nullable(),
  ended_with_sandbox: z
    .boolean()
    .describe('Whether the program ended because its sandbox was stopped, restored or ended'),
})
export type Terminal = z.infer<typeof Terminal>

/** Path parameters of routes of one terminal. */
export const TerminalParams = SandboxParams.extend({ sessionId: TerminalId })

export const createTerminal = defineRoute({
  operation: 'terminalCreate',
  method: 'POST',
  path: '/v1/sandboxes/:id/pty',
  summary: 'Start a command in a new terminal',
  description: `Allows ${terminalLimits.runningPerSandbox} running terminals per sandbox (429 \`terminal/too-many\`). Starts in the home folder unless \`cwd\` or \`cwd_of\` is set. Fails with 404 \`file/not-found\` if the folder does not exist, or 409 \`sandbox/not-running\`.`,
  example: { command: 'bash', cols: 120, rows: 40, cwd: '/root' },
  tag: 'Terminals',
  params: SandboxParams,
  body: z.object({
    command: z
      .string()
      .min(1, 'must not be empty')
      .max(32 * 1024, 'must have at most 32768 characters'),
    cols: Size.default(terminalLimits.defaultCols),
    rows: Size.default(terminalLimits.defaultRows),
    cwd: z.string().startsWith('/', 'must be an absolute path').optional(),
    cwd_of: TerminalId.optional().describe(
      'Running terminal of the sandbox. The new terminal starts in the directory of its foreground program, or in `cwd` if that directory is unknown.',
    ),
    env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string()).optional(),
  }),
  response: Terminal,
  status: 201,
  idempotent: true,
})

export const listTerminals = defineRoute({
  operation: 'terminalList',
  method: 'GET',
  path: '/v1/sandboxes/:id/pty',
  summary: 'List the terminals of a sandbox, oldest first',
  description: `Returns running terminals. Set \`all=true\` to include exited terminals. Exited terminals remain available for ${terminalLimits.exitedReadableMs / 60_000} minutes, at most the newest 200 per sandbox.`,
  tag: 'Terminals',
  params: SandboxParams,
  query: z.object({ all: QueryFlag.default(false) }),
  response: z.object({ sandbox_id: SandboxId, sessions: z.array(Terminal), total: z.int() }),
})

export const writeTerminal = defineRoute({
  operation: 'terminalWrite',
  method: 'POST',
  path: '/v1/sandboxes/:id/pty/:sessionId/write',
  summary: 'Type into a terminal',
  description: `Types the text unchanged, at most ${terminalLimits.maxInputBytes / 1024 ** 2} MiB: \`\\n\` is Enter, \`\\u0003\` is Ctrl-C. Fails with 409 \`terminal/input-full\` while earlier input is unread, or 409 \`terminal/exited\`. A repeated request types the text again.`,
  example: { input: 'ls -la\n' },
  tag: 'Terminals',
  params: TerminalParams,
  body: z.object({ input: z.string() }),
  response: z.object({ success: z.literal(true), bytes_written: z.int(), session_id: TerminalId }),
  /** JSON may escape one byte as six characters. */
  maxBodyBytes: 6 * terminalLimits.maxInputBytes + 1024,
})

export const readTerminal = defineRoute({
  operation: 'terminalRead',
  method: 'GET',
  path: '/v1/sandboxes/:id/pty/:sessionId/read',
  summary: 'Read the screen, scrollback or raw output of a terminal',
  description: `Returns the screen by default. \`full=true\` adds up to ${terminalLimits.scrollbackLines} lines of scrollback. \`since\` returns raw output after a cursor, at most 1 MiB per response. Only the last ${terminalLimits.maxOutputBytes / 1024 ** 2} MiB of raw output are stored.`,
  tag: 'Terminals',
  params: TerminalParams,
  query: z.object({
    full: QueryFlag.default(false),
    format: z.enum(['text', 'ansi']).default('text'),
    /**
     * Cursor of an earlier response, or 0 for all stored output. The response then contains raw output from that
     * position.
     */
    since: z.coerce.number('must be a cursor').int('must be a cursor').min(0, 'must be a cursor').optional(),
    /** Maximum wait for output, in milliseconds. Only with `since`. */
    wait_ms: z.coerce.number().int().min(0).max(60_000, 'must be at most 60000').optional(),
  }),
  response: z.object({
    output: z.string(),
    encoding: z
      .enum(['utf8', 'base64'])
      .describe('Encoding of `output`: `base64` if raw output (`since`) is not valid UTF-8, otherwise `utf8`.'),
    state: TerminalState,
    session_id: TerminalId,
    cols: z.int(),
    rows: z.int(),
    /** Number of output bytes so far, for use as `since`. */
    cursor: z.int(),
    /** Zero-based position on the screen. */
    cursor_position: z.object({ row: z.int(), col: z.int() }).nullable(),
    exit_code: z.int().nullable(),
    signal: z.string().nullable(),
    /** With `since`: whether output after the cursor has already been dropped. */
    missed: z.boolean(),
  }),
})

const nameMessage = 'must be visible characters on one line, or null'

export const changeTerminal = defineRoute({
  operation: 'terminalChange',
  method: 'PATCH',
  path: '/v1/sandboxes/:id/pty/:sessionId',
  summary: 'Rename a terminal',
  description:
    'Set `name` to `null` to remove the name. Exited terminals can be renamed too. Fails with 404 `terminal/not-found`.',
  example: { name: 'server' },
  tag: 'Terminals',
  params: TerminalParams,
  body: z.object({
    name: z
      .string(nameMessage)
      .trim()
      .min(1, 'must not be empty; null takes the name away')
      .max(terminalLimits.nameLength, `must have at most ${terminalLimits.nameLength} characters`)
      .regex(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]*$/u, nameMessage)
      .nullable(),
  }),
  response: Terminal,
})

export const resizeTerminal = defineRoute({
  operation: 'terminalResize',
  method: 'POST',
  path: '/v1/sandboxes/:id/pty/:sessionId/resize',
  summary: 'Resize a terminal',
  description:
    'The new size applies to all viewers of the terminal. Fails with 409 `terminal/exited` if the program has ended.',
  example: { cols: 120, rows: 40 },
  tag: 'Terminals',
  params: TerminalParams,
  body: z.object({ cols: Size, rows: Size }),
  response: z.object({ success: z.literal(true), session_id: TerminalId, cols: z.int(), rows: z.int() }),
})

export const closeTerminal = defineRoute({
  operation: 'terminalClose',
  method: 'DELETE',
  path: '/v1/sandboxes/:id/pty/:sessionId',
  summary: 'Close a terminal and end its program',
  description: `Sends a hangup signal, then kills the program if it does not end within a few seconds. The terminal remains readable for ${terminalLimits.exitedReadableMs / 60_000} minutes. Has no effect on an exited terminal.`,
  tag: 'Terminals',
  params: TerminalParams,
  response: z.object({ success: z.literal(true), session_id: TerminalId, state: z.literal('exited') }),
})

export const createTerminalLink = defineRoute({
  operation: 'terminalLinkCreate',
  method: 'POST',
  path: '/v1/sandboxes/:id/terminal-session',
  summary: 'Create a browser link to the terminals of a sandbox',
  description:
    'Anyone with the link can use these terminals. The link lasts one hour, but ends earlier if the sandbox stops or if the API key or sign-in that created it ends. Each request creates another link.',
  tag: 'Terminals',
  params: SandboxParams,
  /** Not idempotent, because repeating the response would require storing the token. */
  response: z.object({
    token: z.string(),
    /** The token is in the fragment, so that it never reaches a server or a log. */
    terminal_url: z.string(),
    expires_at: IsoTime,
    expires_in_seconds: z.int(),
    sandbox_id: SandboxId,
  }),
  status: 201,
})
