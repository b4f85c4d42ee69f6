import { z } from 'zod'
import {
  closeTerminal,
  createTerminal,
  listTerminals,
  readTerminal,
  resizeTerminal,
  terminalLimits,
  writeTerminal,
} from '../terminals.ts'
import { defineTool, type Tool } from './tool.ts'
import { parseTypedText } from './typedText.ts'

const { min, max } = terminalLimits.size
const size = z.int().min(min).max(max)
const ids = { sandbox_id: z.string(), session_id: z.string() }
const group = 'sandboxes'
const session = {
  session_id: z.string(),
  command: z.string(),
  cols: z.int(),
  rows: z.int(),
  state: z.string(),
  created_at: z.string(),
}
type Session = Record<keyof typeof session, unknown>
const toWire = ({ session_id, command, cols, rows, state, created_at }: Session) => ({
  ...{ session_id, command, cols, rows, state, created_at },
})

/** Tools for terminals of a sandbox. */
export const terminalTools: readonly Tool[] = [
  defineTool({
    name: 'sandbox_pty_create',
    description: 'Start an interactive program (shell, REPL, editor) in a terminal',
    group,
    effect: 'change',
    openWorld: true,
    routes: [createTerminal],
    input: {
      sandbox_id: z.string(),
      command: z.string(),
      cols: size.default(terminalLimits.defaultCols),
      rows: size.default(terminalLimits.defaultRows),
    },
    output: session,
    run: async ({ sandbox_id: id, ...rest }, { call }) => toWire(await call(createTerminal, { id, ...rest })),
  }),
  defineTool({
    name: 'sandbox_pty_write',
    description: 'Type into a terminal. Escapes: \\n Enter, \\t Tab, \\x03 Ctrl+C, \\x1b[A Up, \\\\ backslash',
    group,
    effect: 'change',
    overwrites: true,
    openWorld: true,
    routes: [writeTerminal],
    input: { ...ids, input: z.string() },
    output: { success: z.boolean(), bytes_written: z.int(), session_id: z.string() },
    run: ({ sandbox_id: id, session_id: sessionId, input }, { call }) =>
      call(writeTerminal, { id, sessionId, input: parseTypedText(input) }),
  }),
  defineTool({
    name: 'sandbox_pty_read',
    description: 'Read the screen; set full for all scrollback',
    group,
    effect: 'read',
    routes: [readTerminal],
    input: { ...ids, full: z.boolean().default(false) },
    output: {
      output: z.string(),
      state: z.string(),
      session_id: z.string(),
      cols: z.int(),
      rows: z.int(),
      exit_code: z.int().nullable(),
    },
    run: async ({ sandbox_id: id, session_id: sessionId, full }, { call }) => {
      const { output, state, session_id, cols, rows, exit_code } = await call(readTerminal, { id, sessionId, full })
      return { output, state, session_id, cols, rows, exit_code }
    },
  }),
  defineTool({
    name: 'sandbox_pty_resize',
    description: 'Resize a terminal',
    group,
    effect: 'change',
    idempotent: true,
    routes: [resizeTerminal],
    input: { ...ids, cols: size, rows: size },
    output: { success: z.boolean(), session_id: z.string(), cols: z.int(), rows: z.int() },
    run: ({ sandbox_id: id, session_id: sessionId, cols, rows }, { call }) =>
      call(resizeTerminal, { id, sessionId, cols, rows }),
  }),
  defineTool({
    name: 'sandbox_pty_close',
    description: 'Close a terminal and end its program',
    group,
    effect: 'change',
    overwrites: true,
    idempotent: true,
    routes: [closeTerminal],
    input: ids,
    output: { success: z.boolean(), session_id: z.string(), state: z.string() },
    run: ({ sandbox_id: id, session_id: sessionId }, { call }) => call(closeTerminal, { id, sessionId }),
  }),
  defineTool({
    name: 'sandbox_pty_list',
    description: 'List running terminals',
    group,
    effect: 'read',
    routes: [listTerminals],
    input: { sandbox_id: z.string() },
    output: { sandbox_id: z.string(), sessions: z.array(z.looseObject(session)), total: z.int() },
    run: async ({ sandbox_id: id }, { call }) => {
      const { sandbox_id, sessions, total } = await call(listTerminals, { id })
      return { sandbox_id, sessions: sessions.map(toWire), total }
    },
  }),
]
