import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { issuedKinds, workKinds } from '#service/base/principals.ts'
import { eventually, until } from './eventually.ts'
import type { ProviderServer } from './models/providerServer.ts'
import { plainUsage } from './models/scriptedAnswer.ts'
import { exchange, type TestService } from './runningService.ts'
import { findMessage, openSocket } from './socketClient.ts'

/** Credential of a principal, and how to revoke it. */
export type RevocableCredential = {
  secret: string
  /** Headers that grant access to private ports. */
  previewHeaders: Record<string, string>
  end(): Promise<unknown>
  /** Only for credentials that end with the wallet of a sign-in. */
  unlink?: () => Promise<unknown>
}

export type WorkContext = {
  service: TestService
  providers: ProviderServer
  /** Path of a sandbox with a server on private port 8000 and a file /root/big of `bigBytes` bytes. */
  sandbox: string
  portHost: string
  terminalId: string
  /** Sends a request as the owner of the account. */
  send: TestService['send']
}

export const bigBytes = 96 * 1024 * 1024

/** Starts work with a credential. The returned function asserts that the work has ended. */
type Begin = (context: WorkContext, credential: RevocableCredential) => Promise<() => Promise<void>>

type HolderKind = keyof typeof workKinds | keyof typeof issuedKinds

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` })

const assertRefused = ({ status, text }: { status: number; text: string }, subject: string): void => {
  if (status === 401 && text.includes('auth/invalid')) return
  throw new Error(`${subject} was answered with ${status} ${text.slice(0, 300)}`)
}

/** Opens a request at the socket level, so that the test controls every byte. */
async function rawRequest(url: string, lines: readonly string[], body = ''): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  socket.on('error', () => {})
  socket.write(`${[...lines, 'Host: 127.0.0.1', '', ''].join('\r\n')}${body}`)
  return socket
}

/** Sends half of a request body. The request stays in progress until the rest arrives. */
async function halfRequest(context: WorkContext, lines: readonly string[]): Promise<() => Promise<void>> {
  const port = new URL(context.service.url).port
  const socket = await rawRequest(context.service.url, lines.concat('Content-Length: 1000'), '{"command":')
  let text = ''
  socket.on('data', (bytes) => {
    text += bytes.toString()
  })
  // After another round trip, the server has read the head.
  await exchange(`http://127.0.0.1:${port}`, '/health', {})
  return async () => {
    await until('an answer to half a request', () => text.includes('\r\n\r\n') && text.includes('}'))
    socket.destroy()
    assertRefused({ status: Number(text.slice(9, 12)), text }, 'half a request')
  }
}

async function previewStream(
  { service, portHost }: WorkContext,
  headers: Record<string, string>,
): Promise<() => boolean> {
  let isOver = false
  const request = httpRequest(`${service.url}/stream`, { headers: { host: portHost, ...headers } })
  request.on('error', () => {})
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request.once('error', reject)
    request.once('response', resolve)
    request.end()
  })
  if (answer.statusCode !== 200) throw new Error(`The port answered ${answer.statusCode}.`)
  answer.on('error', () => {})
  answer.once('close', () => {
    isOver = true
  })
  answer.resume()
  return () => isOver
}

const socketEnds =
  (url: string, options: Parameters<typeof openSocket>[1], first: Record<string, unknown>) => async () => {
    const socket = await openSocket(url, options)
    await findMessage(socket, first)
    return async () => {
      const closed = await until('the WebSocket to close', () => socket.closed)
      if (closed.code !== 4401) throw new Error(`It closed with ${JSON.stringify(closed)}.`)
    }
  }

const issueCredential = async ({ service }: WorkContext, path: string, secret: string) => {
  const { status, json, text } = await service.send(path, { method: 'POST', key: secret })
  if (status >= 300) throw new Error(text)
  return json as { token: string }
}

/** Starts each kind of work, for each kind of credential. */
export const revocableWork: Record<HolderKind, Begin> = {
  request: (context, { secret }) =>
    halfRequest(context, [
      `POST ${context.sandbox}/pty HTTP/1.1`,
      `Authorization: Bearer ${secret}`,
      'Content-Type: application/json',
    ]),

  async completion({ service, providers }, { secret }) {
    const { promise, resolve } = Promise.withResolvers<void>()
    providers.clear()
    providers.play({ parts: [{ text: 'Once upon a time there was' }], usage: plainUsage, until: promise })
    const response = await fetch(`${service.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...bearer(secret), 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'kimi-k2.5', stream: true, messages: [{ role: 'user', content: 'Tell a story' }] }),
    })
    if (response.status !== 200) throw new Error(await response.text())
    const text = response.text()
    return async () => {
      const whole = await Promise.race([text, eventually(() => assertDisconnected(providers)).then(() => text)])
      resolve()
      if (!/"error":\{[^\n]*(revoked|ended)/.test(whole)) throw new Error(`The stream ended so: ${whole.slice(-300)}`)
      if (whole.includes('[DONE]')) throw new Error('The stream came to its end.')
    }
  },

  async exec({ service, sandbox, send }, { secret }) {
    const marks = [`/root/plain-${secret.slice(-8)}`, `/root/keyed-${secret.slice(-8)}`]
    const commands = marks.map((mark) => `touch ${mark}; sleep 1000; echo ran > ${mark}`)
    const answers = commands.map((command, index) =>
      service.send(`${sandbox}/exec`, {
        key: secret,
        body: { command, timeout: 600 },
        ...(index === 1 && { headers: { 'idempotency-key': `exec-${secret.slice(-8)}` } }),
      }),
    )
    const running = async (): Promise<number> => {
      const command = `pgrep -fc 'touch ${marks[0]}|touch ${marks[1]}' || true`
      const { json } = await send(`${sandbox}/exec`, { body: { command: `ls ${marks.join(' ')} && ${command}` } })
      return json.exit_code === 0 ? Number(json.stdout.trim().split('\n').at(-1)) : 0
    }
    // `pgrep` runs in a shell whose command line also contains the pattern.
    await until('both commands to run', async () => (await running()) === 3)
    return async () => {
      for (const answer of await Promise.all(answers)) assertRefused(answer, 'the command')
      await until('both commands to be killed', async () => (await running()) === 1)
    }
  },

  async poll({ service, sandbox, terminalId }, { secret }) {
    const path = `${sandbox}/pty/${terminalId}/read`
    const { json } = await service.send(path, { key: secret })
    const answer = service.send(`${path}?since=${json.cursor}&wait_ms=30000`, { key: secret })
    await exchange(service.url, '/health', {})
    return async () => assertRefused(await answer, 'the long poll')
  },

  async download({ service, sandbox }, { secret }) {
    const socket = await rawRequest(service.url, [
      `GET ${sandbox}/files/content?path=/root/big HTTP/1.1`,
      `Authorization: Bearer ${secret}`,
    ])
    let received = 0
    await new Promise<void>((resolve) => {
      socket.once('data', (bytes) => {
        received += bytes.length
        socket.pause()
        resolve()
      })
    })
    return async () => {
      socket.on('data', (bytes) => {
        received += bytes.length
      })
      socket.resume()
      await until('the download to break off', () => socket.closed || received >= bigBytes)
      socket.destroy()
      if (received >= bigBytes) throw new Error('All of the file was sent.')
    }
  },

  async upload(context, { secret }) {
    const path = `${context.sandbox}/files/uploads`
    const { json } = await context.send(path, { body: { path: `/root/up-${secret.slice(-8)}`, size: 5000 } })
    return halfRequest(context, [
      `PATCH ${path}/${json.upload_id} HTTP/1.1`,
      `Authorization: Bearer ${secret}`,
      'Content-Type: application/octet-stream',
      'Upload-Offset: 0',
    ])
  },

  async 'terminal-socket'({ service, sandbox, terminalId }, { secret }) {
    const url = `${service.url}${sandbox}/pty/${terminalId}/stream`
    return socketEnds(url, { protocols: [`steward.token.${secret}`] }, { type: 'attached' })()
  },

  async 'event-socket'({ service }, { secret }) {
    return socketEnds(`${service.url}/v1/events`, { headers: bearer(secret) }, { type: 'ready' })()
  },

  async 'preview-exchange'(context, { previewHeaders }) {
    const isOver = await previewStream(context, previewHeaders)
    return async () => void (await until('the answer of the port to end', isOver))
  },

  async 'preview-socket'({ service, portHost }, { previewHeaders }) {
    const socket = await openSocket(`${service.url}/socket`, { headers: { host: portHost, ...previewHeaders } })
    return async () => void (await until('the WebSocket of the port to end', () => socket.closed))
  },

  async 'terminal-link'(context, { secret }) {
    const { service, sandbox } = context
    const { token } = await issueCredential(context, `${sandbox}/terminal-session`, secret)
    if ((await service.send(`${sandbox}/pty`, { key: token })).status !== 200) throw new Error('The link is no good.')
    return async () => {
      assertRefused(await service.send(`${sandbox}/pty`, { key: token }), 'the list by the link')
      const opened = await service.send(`${sandbox}/pty`, { key: token, body: { command: 'touch /root/by-link' } })
      assertRefused(opened, 'a terminal by the link')
    }
  },

  async 'port-token'(context, { secret }) {
    const { token } = await issueCredential(context, `${context.sandbox}/ports/8000/token`, secret)
    const headers = { host: context.portHost, 'x-steward-port-token': token }
    const visit = () => exchange(context.service.url, '/', { headers })
    if ((await visit()).status !== 200) throw new Error('The token is no good.')
    return async () => assertRefused(await visit(), 'a page by the token')
  },

  async 'frame-session'(context, { secret }) {
    const headers = { host: context.portHost, ...(await openFrame(context, secret)) }
    const visit = () => exchange(context.service.url, '/', { headers })
    if ((await visit()).status !== 200) throw new Error('The session is no good.')
    return async () => {
      // The cookie of an ended session counts as missing.
      if ((await visit()).status !== 401) throw new Error('The frame shows the port still.')
    }
  },

  async 'api-key'({ service }, { secret, unlink }) {
    const { json } = await service.send('/v1/auth/api-keys', { key: secret, body: { name: 'made by a sign-in' } })
    const me = () => service.send('/v1/auth/me', { key: json.key })
    if ((await me()).status !== 200) throw new Error('The key is no good.')
    return async () => {
      if ((await me()).status !== 200) throw new Error('A sign-out revoked the key.')
      await unlink?.()
      assertRefused(await me(), 'the key')
    }
  },
}

/** @returns headers of a frame in the window that shows the private port */
export async function openFrame(context: WorkContext, secret: string): Promise<Record<string, string>> {
  const { service, sandbox, portHost } = context
  const { token } = await issueCredential(
    context,
    `${sandbox}/ports/8000/token?frame_origin=http://127.0.0.1:4000`,
    secret,
  )
  const { headers } = await exchange(service.url, '/.steward/open', {
    method: 'POST',
    headers: { host: portHost, 'x-steward-open': token },
  })
  const [cookie = ''] = String(headers['set-cookie']).split(';')
  return { cookie, 'sec-fetch-site': 'same-origin', origin: `http://${portHost}` }
}

function assertDisconnected(providers: ProviderServer): void {
  if (providers.leftConnections() !== 1) throw new Error('The provider is still asked.')
}
