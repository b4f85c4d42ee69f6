import { request } from 'node:http'
import { buildRequest, type Input, type Output, type Route } from '#shared/contract/route.ts'
import { openSecurePrompt } from '#shared/contract/wallet.ts'
import type { PersonSession } from './personSession.ts'

/** Client with the user's browser session. */
export type PersonClient = { call<R extends Route>(route: R, input: Input<R>): Promise<Output<R>> }

export function createPersonClient(origin: string, session: PersonSession): PersonClient {
  return {
    async call(route, input) {
      const { path, body } = buildRequest(route, input)
      const reply = await fetch(`${origin}${path}`, {
        method: route.method,
        headers: { ...session, ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body }),
        signal: AbortSignal.timeout(120_000),
      })
      const text = await reply.text()
      if (!reply.ok) throw new Error(`${route.method} ${path}: ${reply.status} ${text}`)
      return route.response.parse(JSON.parse(text)) as Output<typeof route> // validated by parse()
    },
  }
}

/**
 * Adds a private key to the wallet, or creates the wallet with it, by submitting the prompt's forms without a browser.
 */
export async function importPrivateKey(
  person: PersonClient,
  fields: { key: string; passphrase: string },
): Promise<void> {
  const { url } = await person.call(openSecurePrompt, { purpose: 'import', theme: 'dark' })
  const first = await visit(url)
  const chosen = await send(url, first, { do: 'private_key' })
  const end = await send(url, chosen, {
    do: 'next',
    chain: 'evm',
    private_key: fields.key,
    passphrase: fields.passphrase,
    new_passphrase: fields.passphrase,
    new_passphrase_again: fields.passphrase,
  })
  if (!end.includes('steward.secure-prompt.done')) throw new Error(`The private key was not imported:\n${end}`)
}

/** Changes permissions, and submits the secure prompt's form if the change requires confirmation. */
export async function changeConfirmed(
  person: PersonClient,
  fields: { passphrase: string; change: () => Promise<unknown> },
): Promise<void> {
  const refusal = await fields.change().then(
    () => undefined,
    (error: unknown) => error,
  )
  if (refusal === undefined) return
  if (!String(refusal).includes('policy/confirmation')) throw refusal
  const { url } = await person.call(openSecurePrompt, { purpose: 'confirm_policy', theme: 'dark' })
  const end = await send(url, await visit(url), { do: 'next', passphrase: fields.passphrase })
  if (!end.includes('steward.secure-prompt.done')) throw new Error(`The policy was not changed:\n${end}`)
}

function send(url: string, page: string, fields: Record<string, string>): Promise<string> {
  const key = /name="key" value="([^"]+)"/.exec(page)?.[1]
  if (key === undefined) throw new Error(`The secure prompt has no form:\n${page}`)
  const form = new FormData()
  for (const [name, value] of Object.entries({ key, ...fields })) form.set(name, value)
  return visit(new URL('/prompt/step', url).href, form)
}

/** Resolves `wallet.localhost` to this computer, regardless of the resolver. */
async function visit(url: string, form?: FormData): Promise<string> {
  const { port, host, pathname } = new URL(url)
  const encoded = form && new Response(form)
  const body = encoded && Buffer.from(await encoded.arrayBuffer())
  const type = encoded?.headers.get('content-type')
  return new Promise((resolve, reject) => {
    const requested = request(
      {
        host: '127.0.0.1',
        port,
        path: pathname,
        method: form ? 'POST' : 'GET',
        headers: { host, ...(type && { 'content-type': type }), ...(body && { 'content-length': body.length }) },
        timeout: 60_000,
      },
      (answer) => {
        const pieces: Buffer[] = []
        answer.on('data', (piece: Buffer) => pieces.push(piece))
        answer.on('end', () => resolve(Buffer.concat(pieces).toString()))
        answer.on('error', reject)
      },
    )
    requested.on('timeout', () => requested.destroy(new Error('The secure prompt did not answer.')))
    requested.on('error', reject)
    requested.end(body)
  })
}
