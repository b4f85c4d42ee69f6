import { isUtf8 } from 'node:buffer'
import { AppError } from '#shared/appError.ts'
import type { Answer, Parsed } from '#shared/contract/route.ts'
import { searchTerminals } from '#shared/contract/terminalSearch.ts'
import {
  changeTerminal,
  closeTerminal,
  createTerminal,
  createTerminalLink,
  listTerminals,
  readTerminal,
  resizeTerminal,
  terminalLimits,
  writeTerminal,
} from '#shared/contract/terminals.ts'
import { TerminalId } from '#shared/ids.ts'
import { toIsoTime } from '#shared/time.ts'
import { type Call, createEndpoint, createLinkEndpoint, type Endpoint, withWork } from '../base/endpoint.ts'
import type { HostCall } from '../host/hostCalls.ts'
import type { SandboxRegistry } from '../sandboxes/sandboxRegistry.ts'
import type { TerminalActivity } from './terminalActivity.ts'
import { linkSeconds, type TerminalLinks } from './terminalLinks.ts'
import { terminalToWire } from './terminalWire.ts'

/** Maximum raw output in one response to `since`. The next response continues after it. */
const maxReadBytes = 1024 * 1024
/** Additional time for the host to respond to a long poll before it counts as lost. */
const waitGraceMs = 15_000

export function createTerminalRoutes(options: {
  sandboxes: Pick<SandboxRegistry, 'requireOwned' | 'running' | 'list'>
  links: TerminalLinks
  call: HostCall
  activity: Pick<TerminalActivity, 'recordOpened'>
  baseUrl: () => string
  newTerminalId: () => string
}): Endpoint[] {
  const { sandboxes, links, call } = options
  return [
    createLinkEndpoint(createTerminal, async ({ params, body: { cwd_of: cwdOf, ...body } }, { caller }) => {
      const { id: sandboxId } = await sandboxes.running(caller, params.id)
      const terminalId = TerminalId.parse(options.newTerminalId())
      const { result } = await call('terminal.create', { sandboxId, terminalId, ...body, ...(cwdOf && { cwdOf }) })
      options.activity.recordOpened(result)
      return terminalToWire(result)
    }),
    createLinkEndpoint(listTerminals, async ({ params, query }, { caller }) => {
      const { id: sandboxId } = await sandboxes.requireOwned(caller, params.id)
      const { result } = await call('terminal.list', { sandboxId })
      const visible = query.all ? result.terminals : result.terminals.filter(({ state }) => state === 'running')
      return { sandbox_id: sandboxId, sessions: visible.map(terminalToWire), total: visible.length }
    }),
    createLinkEndpoint(writeTerminal, async ({ params, body }, { caller }) => {
      const { id: sandboxId } = await sandboxes.requireOwned(caller, params.id)
      const bytes = Buffer.from(body.input)
      if (bytes.length > terminalLimits.maxInputBytes) {
        throw new AppError('request/too-large', `\`input\` must have at most ${terminalLimits.maxInputBytes} bytes.`)
      }
      await call('terminal.write', { sandboxId, terminalId: params.sessionId }, { body: bytes })
      return { success: true, bytes_written: bytes.length, session_id: params.sessionId }
    }),
    withWork(
      'poll',
      createLinkEndpoint(readTerminal, async (input, { caller, signal }) => {
        await sandboxes.requireOwned(caller, input.params.id)
        const { since } = input.query
        return since === undefined ? readScreen(input, call) : readSince(input, { since, call, signal })
      }),
    ),
    createEndpoint(searchTerminals, async ({ query }, { caller, signal }) => {
      const { q: text, regex, case_sensitive: caseSensitive, limit } = query
      const sandboxIds = (await sandboxes.list(caller.accountId)).map(({ id }) => id)
      const { result } = await call('terminal.search', { sandboxIds, text, regex, caseSensitive, limit }, { signal })
      return result
    }),
    createLinkEndpoint(changeTerminal, async ({ params, body: { name } }, { caller }) => {
      const { id: sandboxId } = await sandboxes.requireOwned(caller, params.id)
      const { result } = await call('terminal.rename', { sandboxId, terminalId: params.sessionId, name })
      return terminalToWire(result)
    }),
    createLinkEndpoint(resizeTerminal, async ({ params, body: { cols, rows } }, { caller }) => {
      const { id: sandboxId } = await sandboxes.requireOwned(caller, params.id)
      await call('terminal.resize', { sandboxId, terminalId: params.sessionId, cols, rows })
      return { success: true, session_id: params.sessionId, cols, rows }
    }),
    createLinkEndpoint(closeTerminal, async ({ params }, { caller }) => {
      const { id: sandboxId } = await sandboxes.requireOwned(caller, params.id)
      await call('terminal.close', { sandboxId, terminalId: params.sessionId })
      return { success: true, session_id: params.sessionId, state: 'exited' }
    }),
    createEndpoint(createTerminalLink, async ({ params }, { caller }) => {
      const { id } = await sandboxes.requireOwned(caller, params.id)
      const { token, expiresAtMs } = await links.create(caller, id)
      return {
        token,
        terminal_url: `${options.baseUrl()}/terminal/${id}#token=${token}`,
        expires_at: toIsoTime(expiresAtMs),
        expires_in_seconds: linkSeconds,
        sandbox_id: id,
      }
    }),
  ]
}

type ReadInput = Parsed<typeof readTerminal>

type ReadAnswer = Answer<typeof readTerminal>

async function readScreen({ params, query: { full, format } }: ReadInput, call: HostCall): Promise<ReadAnswer> {
  const { result, body } = await call('terminal.read', {
    sandboxId: params.id,
    terminalId: params.sessionId,
    full,
    format,
  })
  const { terminal, cursor, cursorPosition } = result
  return {
    ...getState(terminal),
    output: body.toString('utf8'),
    encoding: 'utf8',
    cursor,
    cursor_position: cursorPosition,
    missed: false,
  }
}

async function readSince(
  { params, query }: ReadInput,
  { since, call, signal }: { since: number; call: HostCall; signal: Call['signal'] },
): Promise<ReadAnswer> {
  const waitMs = query.wait_ms ?? 0
  const { result, body } = await call(
    'terminal.readSince',
    { sandboxId: params.id, terminalId: params.sessionId, since, waitMs, maxBytes: maxReadBytes },
    { deadlineMs: waitMs + waitGraceMs, signal },
  )
  const { terminal, cursor, missed } = result
  const encoding = isUtf8(body) ? 'utf8' : 'base64'
  return { ...getState(terminal), output: body.toString(encoding), encoding, cursor, cursor_position: null, missed }
}

function getState(terminal: Parameters<typeof terminalToWire>[0]) {
  const { state, session_id, cols, rows, exit_code, signal } = terminalToWire(terminal)
  return { state, session_id, cols, rows, exit_code, signal }
}
