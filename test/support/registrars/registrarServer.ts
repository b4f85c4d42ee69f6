import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { createListening } from '../fakes/listening.ts'

/** Error of a registrar. `moves`: whether the operation takes effect before the error. */
export type RegistrarTrouble = {
  /** Part of the path, such as `registerDomain` or `:renew`. */
  at: string
  moves: boolean
  how: 'cut' | 'silent' | 'no-json' | number
  /** Number of errors. Default: 1. */
  times?: number
}

export type RegistrarRequest = {
  method: string
  path: string
  query: URLSearchParams
  headers: IncomingMessage['headers']
  body: string
}
export type RegistrarResponse = { status: number; json?: unknown; text?: string }

/** Starts a registrar's API over real HTTP. `answer` implements its documentation. */
export async function registrarServer(answer: (request: RegistrarRequest) => RegistrarResponse) {
  let trouble: RegistrarTrouble | undefined
  let before: ((request: RegistrarRequest) => Promise<void>) | undefined
  const calls: string[] = []

  const send = (response: ServerResponse, { status, json, text }: RegistrarResponse): void => {
    response.writeHead(status, { 'content-type': text === undefined ? 'application/json' : 'text/html' })
    response.end(text ?? JSON.stringify(json))
  }
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname: path, searchParams: query } = new URL(request.url ?? '/', 'http://registrar')
    const registrarRequest = {
      method: request.method ?? '',
      path,
      query,
      headers: request.headers,
      body: await text(request),
    }
    calls.push(`${registrarRequest.method} ${path}`)
    await before?.(registrarRequest)
    const met = trouble && path.includes(trouble.at) ? trouble : undefined
    if (!met) return send(response, answer(registrarRequest))
    trouble = (met.times ?? 1) > 1 ? { ...met, times: (met.times ?? 1) - 1 } : undefined
    if (met.moves) answer(registrarRequest)
    if (met.how === 'silent') return
    if (met.how === 'no-json') return send(response, { status: 200, text: '<html>Sorry</html>' })
    if (typeof met.how === 'number') return send(response, { status: met.how, text: 'upstream connect error' })
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 400 }).write('{"reply": {')
    setImmediate(() => response.destroy())
  }
  const server = createServer((request, response) => void handle(request, response))
  const { url, close } = await createListening(server)
  return {
    url,
    /** Method and path of all requests. */
    calls,
    meets(what: RegistrarTrouble | undefined) {
      trouble = what
    },
    /** Sets a hook that runs before each response and delays it. */
    pauses(pause: ((request: RegistrarRequest) => Promise<void>) | undefined) {
      before = pause
    },
    close,
  }
}

/** Returns the same day in a later year. */
export function laterYear(day: Date, years: number): Date {
  const date = new Date(day)
  date.setUTCFullYear(date.getUTCFullYear() + years)
  return date
}
