import { request as httpRequest } from 'node:http'
import { securePromptHostName } from '#shared/contract/wallet.ts'
import type { PersonSession } from './personSession.ts'

type SecurePrompt = {
  origin: string
  session: PersonSession
  body: Record<string, unknown>
  fields: Record<string, string>
}

/** Opens a secure prompt as the window does, and submits its first form as the user would. @returns the next page */
export async function sendSecurePrompt({ origin, session, body, fields }: SecurePrompt): Promise<string> {
  const opened = await fetch(`${origin}/local/secure-prompts`, {
    method: 'POST',
    headers: { ...session, origin, 'content-type': 'application/json' },
    body: JSON.stringify({ theme: 'light', ...body }),
  })
  const text = await opened.text()
  if (opened.status !== 201) throw new Error(`The secure prompt did not open: ${text}`)
  const { url } = JSON.parse(text) as { url: string }
  const page = await ask(url)
  const key = /name="key" value="([\w-]+)"/.exec(page)?.[1] ?? ''
  return ask(new URL('/prompt/step', url).href, new URLSearchParams({ key, do: 'next', ...fields }).toString())
}

/** Sends the request to loopback, so that the secure prompt's host name needs no resolver. */
function ask(url: string, form?: string): Promise<string> {
  const { port, pathname } = new URL(url)
  return new Promise((resolve, reject) => {
    const headers = { host: `${securePromptHostName}:${port}`, 'content-type': 'application/x-www-form-urlencoded' }
    const method = form === undefined ? 'GET' : 'POST'
    const request = httpRequest({ host: '127.0.0.1', port, path: pathname, method, headers, agent: false }, (reply) => {
      let page = ''
      reply.setEncoding('utf8')
      reply.on('data', (piece: string) => {
        page += piece
      })
      reply.on('end', () => resolve(page))
    })
    request.on('error', reject)
    request.end(form)
  })
}
