import type { IncomingMessage, ServerResponse } from 'node:http'
import { AppError } from '../../../shared/appError.ts'
import { getLocalStatus, localEventsPath, openSession } from '../../../shared/contract/localApi.ts'
import type { Output } from '../../../shared/contract/route.ts'
import type { ServiceLink } from '../connections/serviceLink.ts'
import { sendJson } from './answers.ts'
import type { SessionCookie } from './cookies.ts'
import type { PersonSessions } from './personSessions.ts'

/** What does not change while this Steward runs. */
export type LocalStatus = Omit<Output<typeof getLocalStatus>, 'connection'>

type Options = { sessions: PersonSessions; cookie: SessionCookie; link: ServiceLink; status: LocalStatus }
type At = { path: string; person: boolean }

const maxBodyBytes = 4096

/** The agent's own operations. All but the opening of a session belong to the person's session alone. */
export function localRoutes({ sessions, cookie, link, status }: Options) {
  const open = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const parsed = openSession.body.safeParse(await readJson(request))
    if (!parsed.success) throw new AppError('request/invalid', '`token` must be the token of the start address.')
    const secret = sessions.exchange(parsed.data.token)
    if (secret === undefined) {
      throw new AppError('auth/session', 'This address was used already, or belongs to an earlier start of Steward.')
    }
    sendJson(response, openSession.status, { success: true }, { 'set-cookie': cookie.header(secret) })
  }

  return {
    async answer(request: IncomingMessage, response: ServerResponse, { path, person }: At): Promise<void> {
      switch (path) {
        case openSession.path:
          allow(request, openSession.method)
          return open(request, response)
        case getLocalStatus.path:
          allow(request, getLocalStatus.method)
          needPerson(person)
          return sendJson(response, 200, { ...status, connection: link.status() })
        case localEventsPath:
          throw new AppError('request/invalid', `${localEventsPath} is a WebSocket.`)
        default:
          throw new AppError('request/not-found', `There is no ${path}.`)
      }
    },
    /** @throws AppError when this WebSocket may not be opened. */
    checkEvents(path: string, person: boolean): void {
      if (path !== localEventsPath) throw new AppError('request/not-found', `There is no WebSocket at ${path}.`)
      needPerson(person)
    },
  }
}

function allow({ method }: IncomingMessage, allowed: string): void {
  if (method !== allowed) throw new AppError('request/method', `This path answers to ${allowed} only.`)
}

function needPerson(person: boolean): void {
  if (!person) throw new AppError('auth/session', 'Open Steward with the address that it printed when it started.')
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
    throw new AppError('request/media-type', 'The body must be JSON.')
  }
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    const piece = Buffer.from(chunk)
    bytes += piece.length
    if (bytes > maxBodyBytes) throw new AppError('request/too-large', `The body has more than ${maxBodyBytes} bytes.`)
    chunks.push(piece)
  }
  return parsedJson(Buffer.concat(chunks).toString('utf8'))
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw malformed(cause)
  }
}

function malformed(cause: unknown): AppError {
  return new AppError('request/malformed', 'The body is not valid JSON.', { cause })
}
