import { z } from 'zod'
import { TerminalId } from '../ids.ts'
import { CarriedMark } from '../terminalMarks.ts'
import { QueryFlag } from './route.ts'
import { TerminalColors } from './terminalColors.ts'
import { TerminalState, terminalLimits } from './terminals.ts'

/**
 * WebSocket `GET /v1/sandboxes/:id/pty/:sessionId/stream?scrollback=N`. The server sends one `attached` message, one
 * binary frame with a snapshot (escape sequences that draw the screen and N lines above it on an empty terminal of that
 * size), and then raw output as binary frames, interleaved in order with `resized`, `title` and `exited` messages.
 * After `exited` it closes with 1000. With `marks=true`, one `marks` message precedes the snapshot. It contains the
 * positions of commands once the first `at` bytes of the snapshot are drawn, and the key that distinguishes marks of
 * the shell from marks in printed files. With `skip=true`, a viewer that falls far behind receives `skipped` and a
 * snapshot of the current screen instead of output, and responds with `drawn`. Once the output slows down, it receives
 * a snapshot with the N lines above, and then raw output. The client sends `ack` with the number of bytes of *raw
 * output* (not of the snapshot) consumed since its last `ack`. The server pauses while more than `windowBytes` are
 * unacknowledged. A client that acknowledges nothing for `stallMs` while output is pending is closed with 4008 and may
 * attach again. The host responds to queries of programs (terminal type, cursor position, colors) once, for any number
 * of clients. A client sends only keyboard, paste and mouse input of the user, never replies of its emulator.
 */
export const terminalStreamPath = '/v1/sandboxes/:id/pty/:sessionId/stream'

/** Flow control of terminal streams, in bytes and milliseconds. */
export const streamLimits = {
  windowBytes: 1024 * 1024,
  ackEveryBytes: 128 * 1024,
  stallMs: 10_000,
  /** Limits of a viewer with `skip`, which receives the current screen when it is more than `behindBytes` behind. */
  skip: { windowBytes: 128 * 1024, ackEveryBytes: 16 * 1024, behindBytes: 256 * 1024, everyMs: 250 },
} as const

/**
 * Close codes in addition to the standard ones. `accessEnded`: the key was revoked, or the sign-in or its access token
 * has expired.
 */
export const streamClose = {
  tooSlow: 4008,
  notFound: 4004,
  unavailable: 4503,
  refused: 4400,
  accessEnded: 4401,
} as const

/** Query parameters of a terminal stream. */
export const StreamQuery = z.object({
  scrollback: z.coerce.number().int().min(0).max(terminalLimits.scrollbackLines).default(0),
  marks: QueryFlag.default(false),
  skip: QueryFlag.default(false),
})

/** Server message of a terminal stream. Output is sent as binary frames. */
export const ServerStreamMessage = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('attached'),
    session_id: TerminalId,
    cols: z.int(),
    rows: z.int(),
    state: TerminalState,
    /** Number of output bytes before the first raw frame. */
    cursor: z.int(),
    title: z.string().nullable(),
  }),
  z.object({
    type: z.literal('marks'),
    key: z.string().nullable(),
    at: z.int().min(0),
    marks: z.array(CarriedMark),
  }),
  z.object({
    type: z.literal('skipped'),
    cols: z.int(),
    rows: z.int(),
    /** Number of output bytes before the following snapshot. */
    cursor: z.int(),
    at: z.int().min(0),
    marks: z.array(CarriedMark),
  }),
  z.object({ type: z.literal('resized'), cols: z.int(), rows: z.int() }),
  z.object({ type: z.literal('title'), title: z.string() }),
  z.object({ type: z.literal('exited'), exit_code: z.int().nullable(), signal: z.string().nullable() }),
  /**
   * Acknowledges input up to `seq`, which was accepted or refused and must not be resent. Delayed while the program
   * does not read, so a client that sends a long text in parts waits for it before each next part.
   */
  z.object({ type: z.literal('taken'), seq: z.int() }),
  /** Rejection of a client message. The stream continues. */
  z.object({ type: z.literal('refused'), error: z.string(), code: z.string() }),
])
export type ServerStreamMessage = z.infer<typeof ServerStreamMessage>

const { min, max } = terminalLimits.size
/** Message from a client of a terminal stream. */
export const ClientStreamMessage = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('input'),
    data: z.string(),
    /**
     * Numbered input is written once, even if it is sent repeatedly. A reconnecting client resends, in order, all input
     * without `taken`. `writer` is a random name chosen by the client; `seq` counts its inputs to this terminal from 1.
     */
    writer: z.string().min(1).max(64).optional(),
    seq: z.int().min(1).optional(),
  }),
  z.object({ type: z.literal('resize'), cols: z.int().min(min).max(max), rows: z.int().min(min).max(max) }),
  z.object({ type: z.literal('ack'), bytes: z.int().min(0) }),
  /** The snapshot of the last `skipped` is drawn. */
  z.object({ type: z.literal('drawn') }),
  /** Colors of this viewer, which the host reports to programs that query colors. */
  z.object({ type: z.literal('colours'), colours: TerminalColors }),
])
export type ClientStreamMessage = z.infer<typeof ClientStreamMessage>
