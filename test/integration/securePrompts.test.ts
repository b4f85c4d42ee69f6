import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startLocalServer } from '#agent/api/localServer.ts'
import { createUserSessions } from '#agent/api/userSessions.ts'
import type { Decision } from '#agent/approvals/approvals.ts'
import { initialPolicy } from '#agent/approvals/policyRepository.ts'
import { createLocalEvents } from '#agent/base/localEvents.ts'
import { createServiceLink } from '#agent/connections/serviceLink.ts'
import { createSecurePrompts } from '#agent/securePrompts/securePrompts.ts'
import { openKeystore } from '#agent/wallet/keystoreFile.ts'
import { requireStrong } from '#agent/wallet/passphrases.ts'
import { silentLog } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import type { IntentRecord } from '#shared/contract/intents.ts'
import { WalletAccountId } from '#shared/contract/wallet.ts'
import { openPersonSession } from '../support/clients/personSession.ts'
import { openTestWallet } from '../support/fixtures/openTestWallet.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'

const passphrase = 'violet anchor seldom pretzel orbit'
/** Public phrase of local development chains. */
const phrase = 'test test test test test test test test test test test junk'
const evil = '"><script>alert(1)</script>'

const intent: IntentRecord = {
  id: 'int_1',
  kind: 'message',
  state: 'waiting',
  requester: { kind: 'client', id: 'key_1', name: evil },
  reason: evil,
  account_id: WalletAccountId.parse(`wal_${'0'.repeat(24)}`),
  address: '0x0',
  sentence: `Sign ${evil}`,
  fields: [{ label: evil, value: evil, kind: 'warning' }],
  raw: evil,
  host: null,
  scope: null,
  purchase: null,
  amount_micro_usd: null,
  needs_confirmation: true,
  created_at: '2026-01-01T00:00:00.000Z',
  expires_at: '2026-01-01T00:05:00.000Z',
  decision: null,
  result: null,
  error: null,
}

const payment: IntentRecord = {
  ...intent,
  ...{
    id: 'int_2',
    kind: 'x402.authorize',
    sentence: 'Pay 1.95 USDC to 0x7357…0001 on Base for https://shop.example/a',
  },
  fields: [
    { label: 'Amount', value: '1.95 USDC', kind: 'amount' },
    { label: 'Description', value: 'a refund” to you <b>', kind: 'text' },
  ],
}

const elsewhere = () => {
  throw new AppError('provider-key/remote-service', 'The service runs elsewhere.')
}

/** Builds the parts of the interface that secure prompts use. */
function builtPages(): string {
  const folder = temporaryFolder('pages')
  mkdirSync(join(folder, 'assets'))
  for (const name of ['prompt-00000000.css', 'prompt-00000000.js']) writeFileSync(join(folder, 'assets', name), '')
  return folder
}

async function startWallet() {
  let nowMs = Date.UTC(2026, 0, 1)
  const testWallet = openTestWallet({ folder: temporaryFolder('wallet') })
  const link = createServiceLink({ name: 'This computer', kind: 'embedded', log: silentLog })
  const events = createLocalEvents(link)
  const decisions: [string, Decision][] = []
  const applied: string[] = []
  const prompts = createSecurePrompts({
    vault: testWallet.wallet,
    requireStrong,
    approvals: {
      get: (id) => (id === payment.id ? payment : intent),
      decide: async (id, decision) => {
        decisions.push([id, decision])
        return intent
      },
    },
    policy: {
      pending: () => ({
        title: `Change ${evil}?`,
        sentence: `Allow ${evil}`,
        lines: [{ label: evil, value: evil }],
        apply() {
          applied.push(evil)
          return initialPolicy
        },
      }),
    },
    unlinking: { findLinked: () => ({ own: [], others: [] }) },
    service: link.status,
    providers: {
      keys: { about: elsewhere, list: elsewhere, set: elsewhere },
      servers: { get: elsewhere, setKey: elsewhere },
      toolServers: { get: elsewhere, setSecret: elsewhere },
    },
    pagesFolder: builtPages(),
    now: () => nowMs,
    log: silentLog,
  })
  const sessions = createUserSessions()
  const server = await startLocalServer({
    address: { host: '127.0.0.1', port: 0 },
    pagesFolder: builtPages(),
    link,
    sessions,
    events,
    endpoints: prompts.endpoints,
    prompts: prompts.pages,
    identifyClient: async () => ({ kind: 'client', id: 'key_1', name: 'Script' }),
    status: { version: '1.2.3', shell: 'browser', platform: 'linux' },
    log: silentLog,
  })
  onTestFinished(async () => {
    await server.close()
    prompts.close()
    link.close()
    testWallet.close()
  })
  const { port } = server
  const origin = `http://127.0.0.1:${port}`
  const session = await openPersonSession(origin, sessions.issueToken())

  const ask = (body: object, headers: Record<string, string> = session) =>
    fetch(`${origin}/local/secure-prompts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ theme: 'dark', ...body }),
    })
  const get = (path: string, headers: Record<string, string> = {}) =>
    send(port, { path, headers: { host: `wallet.localhost:${port}`, ...headers } })
  const post = (page: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    send(port, {
      path: fields.do === 'download' ? '/prompt/file' : '/prompt/step',
      method: 'POST',
      headers: {
        host: `wallet.localhost:${port}`,
        'content-type': 'application/x-www-form-urlencoded',
        ...headers,
      },
      body: new URLSearchParams({ key: readFormKey(page), do: 'next', ...fields }).toString(),
    })
  const open = async (body: object) => {
    const { url } = (await (await ask(body)).json()) as { url: string }
    return get(new URL(url).pathname)
  }
  return {
    ...testWallet,
    port,
    origin,
    session,
    decisions,
    applied,
    ask,
    get,
    post,
    open,
    later: (ms: number) => (nowMs += ms),
  }
}

const readFormKey = (page: string) => /name="key" value="([\w-]{43})"/.exec(page)?.[1] ?? ''

type HttpRequest = { path: string; method?: string; headers: Record<string, string>; body?: string }

/** Unlike fetch, sends any headers unchanged. */
function send(port: number, { body: sentBody, ...options }: HttpRequest) {
  return new Promise<{ status: number; headers: Record<string, unknown>; body: string }>((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port, agent: false, ...options }, (reply) => {
      let body = ''
      reply.setEncoding('utf8')
      reply.on('data', (text: string) => {
        body += text
      })
      reply.on('end', () => resolve({ status: reply.statusCode ?? 0, headers: reply.headers, body }))
    })
    request.on('error', reject)
    request.end(sentBody)
  })
}

test('a secure prompt opens once in the requesting window under the strictest policy', async () => {
  const { ask, get, port, origin } = await startWallet()
  const reply = await ask({ purpose: 'create' })
  expect(reply.status).toBe(201)
  const { url, expires_at } = (await reply.json()) as { url: string; expires_at: string }
  expect(url).toMatch(new RegExp(`^http://wallet\\.localhost:${port}/prompt/[\\w-]{43}$`))
  expect(expires_at).toBe('2026-01-01T00:01:00.000Z')
  const { pathname } = new URL(url)
  const frame = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }
  const page = await get(pathname, frame)
  expect(page.status).toBe(200)
  expect(page.headers).toMatchObject({
    'content-security-policy': `default-src 'none'; style-src 'self'; script-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors ${origin}`,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  })
  expect(page.headers).not.toHaveProperty('set-cookie')
  expect(page.headers).not.toHaveProperty('access-control-allow-origin')
  expect(page.body).toContain(`data-window="${origin}"`)
  expect(page.body).not.toMatch(/style="|<style|onclick|javascript:/)
  const again = await get(pathname, frame)
  expect([again.status, again.body]).toEqual([410, expect.stringContaining('This page has expired')])
})

test('validates the requester and the purpose before it opens a secure prompt', async () => {
  const { ask, origin, port } = await startWallet()
  expect((await ask({ purpose: 'create' }, {})).status).toBe(401)
  expect((await ask({ purpose: 'create' }, { authorization: 'Bearer sk_a' })).status).toBe(403)
  const requestSecurePrompt = async (body: object) => ((await (await ask(body)).json()) as { code: string }).code
  expect(await requestSecurePrompt({ purpose: 'unlock' })).toBe('wallet/absent')
  expect(await requestSecurePrompt({ purpose: 'confirm' })).toBe('request/invalid')
  expect(await requestSecurePrompt({ purpose: 'steal' })).toBe('request/invalid')
  const preflight = await send(port, {
    path: '/local/secure-prompts',
    method: 'POST',
    headers: { host: `127.0.0.1:${port}`, origin: `http://wallet.localhost:${port}` },
  })
  expect(preflight.status).toBe(403)
  expect((await fetch(`${origin}/prompt/assets/prompt.css`)).status).not.toBe(200)
})

test.each([
  ['another name', { host: 'attacker.example' }],
  ['a name below it', { host: 'a.wallet.localhost' }],
  ['another port', { host: 'wallet.localhost:1' }],
  ['a page of another site', { origin: 'https://attacker.example' }],
  ['a page without an origin', { origin: 'null', 'sec-fetch-site': 'cross-site' }],
  ['a script of another site', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' }],
  ['a tab of its own', { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }],
  ['an exposed port', { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' }],
])('%s cannot open a secure prompt and does not consume its ticket', async (_, headers: Record<string, string>) => {
  const { ask, get } = await startWallet()
  const { url } = (await (await ask({ purpose: 'create' })).json()) as { url: string }
  const { pathname } = new URL(url)
  expect((await get(pathname, headers)).status).toBe(403)
  expect((await get(pathname)).status).toBe(200)
})

test('the secure prompt host name serves nothing else', async () => {
  const { get, post, port, session } = await startWallet()
  for (const path of [
    '/',
    '/local/wallet',
    '/local/status',
    '/v1/sandboxes',
    '/health',
    '/assets/a.js',
    '/prompt/',
    '/prompt/x',
  ]) {
    expect((await get(path, session)).status, path).toBe(404)
  }
  expect((await get('/prompt/step')).status).toBe(404)
  expect((await post('', { key: 'a' })).status).toBe(410)
  const elsewhere = await send(port, { path: '/prompt/step', method: 'POST', headers: { host: `127.0.0.1:${port}` } })
  expect(elsewhere.status).toBe(404)
  expect((await get('/prompt/assets/prompt.css')).headers['content-type']).toContain('text/css')
  expect((await get('/prompt/assets/prompt.js')).headers['content-type']).toContain('text/javascript')
  for (const name of ['prompt-00000000.js', '..%2findex.html', 'index.html', '']) {
    expect((await get(`/prompt/assets/${name}`)).status, name).toBe(404)
  }
})

test('accepts a form once from its own page and never echoes the input', async () => {
  const { open, post, port } = await startWallet()
  const page = await open({ purpose: 'import' })
  const fields = { phrase: 'one two three', new_passphrase: 'short', new_passphrase_again: 'short', label: evil }
  const foreign = await post(page.body, fields, { origin: 'https://attacker.example' })
  expect(foreign.status).toBe(403)
  const ownHeaders = { origin: 'null', 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate' }
  const wrong = await post(page.body, fields, ownHeaders)
  expect(wrong.status).toBe(200)
  expect(wrong.body).toContain('role="alert"')
  expect(wrong.body).not.toContain('one two three')
  expect(wrong.body).not.toContain('short"')
  expect(wrong.body).not.toContain('<script>alert')
  expect(wrong.body).toContain('&quot;&gt;&lt;script&gt;alert(1)')
  expect(readFormKey(wrong.body)).not.toBe(readFormKey(page.body))
  expect((await post(page.body, fields)).status).toBe(410)
  expect((await post(wrong.body, { do: 'cancel' })).body).toContain('data-tells="steward.secure-prompt.cancelled"')
  expect((await post(wrong.body, fields)).status).toBe(410)
  const large = await send(port, {
    path: '/prompt/step',
    method: 'POST',
    headers: { host: `wallet.localhost:${port}`, 'content-type': 'application/x-www-form-urlencoded' },
    body: `key=${'a'.repeat(200_000)}`,
  })
  expect(large.status).toBe(413)
})

test('expires secure prompts after ten minutes, tickets after one and the oldest when full', async () => {
  const { ask, get, open, post, later } = await startWallet()
  const { url } = (await (await ask({ purpose: 'create' })).json()) as { url: string }
  later(60_000)
  expect((await get(new URL(url).pathname)).status).toBe(410)
  const page = await open({ purpose: 'import' })
  later(599_999)
  const next = await post(page.body, { do: 'private_key' })
  expect(next.status).toBe(200)
  later(1)
  expect((await post(next.body, {})).status).toBe(410)

  const opened = []
  for (let n = 0; n < 5; n++) opened.push(await open({ purpose: 'import' }))
  const answers = await Promise.all(opened.map(({ body }) => post(body, { do: 'keystore' })))
  expect(answers.map(({ status }) => status)).toEqual([410, 200, 200, 200, 200])
})

test('shows the recovery phrase only after the passphrase and until the lock', async () => {
  const { wallet, open, post, applied, decisions } = await startWallet()
  const { id } = await wallet.addPhrase({ phrase, writtenDown: false, passphrase })
  const page = await open({ purpose: 'reveal', keyring_id: id })
  expect(page.body).not.toContain('junk')
  const wrong = await post(page.body, { passphrase: 'not the passphrase' })
  expect(wrong.body).toContain('aria-invalid="true"')
  expect(wrong.body).not.toContain('not the passphrase')
  expect(wrong.body).not.toContain('junk')
  const words = await post(wrong.body, { passphrase })
  expect(words.body).toContain('<li><span>12</span>junk</li>')
  const check = await post(words.body, {})
  expect(check.body).not.toContain('junk')
  const indexes = [...check.body.matchAll(/id="word_(\d+)"/g)].map(([, index]) => Number(index))
  expect(indexes).toHaveLength(3)
  const typed = Object.fromEntries(indexes.map((index) => [`word_${index}`, index === 12 ? 'junk' : 'test']))
  const done = await post(check.body, typed)
  expect(done.body).toContain('data-tells="steward.secure-prompt.done"')
  expect((await wallet.status()).keyrings[0]?.written_down).toBe(true)

  const otherPrompt = await open({ purpose: 'reveal', keyring_id: id })
  const confirm = await open({ purpose: 'confirm', intent_id: 'int_1' })
  expect(confirm.body).not.toContain('<script>alert')
  expect((await post(confirm.body, { do: 'deny' })).body).toContain('steward.secure-prompt.done')
  expect(decisions).toEqual([['int_1', { approve: false, confirmed: true }]])
  wallet.lock()
  expect((await post(otherPrompt.body, { passphrase })).status).toBe(410)

  const approve = await open({ purpose: 'confirm', intent_id: 'int_1' })
  const refused = await post(approve.body, { passphrase: 'not the passphrase' })
  expect(refused.body).toContain('aria-invalid="true"')
  expect(decisions).toHaveLength(1)
  expect((await post(refused.body, { passphrase })).body).toContain('steward.secure-prompt.done')
  expect(decisions[1]).toEqual(['int_1', { approve: true, confirmed: true }])
  // An unlocked wallet does not replace the passphrase.
  const another = await open({ purpose: 'confirm', intent_id: 'int_1' })
  const unknown = await post(another.body, { passphrase: 'not the passphrase' })
  expect(unknown.body).toContain('aria-invalid="true"')
  expect(decisions).toHaveLength(2)

  // The seller's text is quoted and cannot close the quotation.
  const paying = await open({ purpose: 'confirm', intent_id: payment.id })
  expect(paying.body).toContain('<p class="sentence">Pay 1.95 USDC: “a refund’ to you &lt;b&gt;”</p>')
  expect(paying.body).toContain(`<p>${payment.sentence}</p>`)

  const policy = await open({ purpose: 'confirm_policy' })
  expect(policy.body).not.toContain('<script>alert')
  const response = await post(policy.body, { passphrase: 'not the passphrase' })
  expect(response.body).toContain('aria-invalid="true"')
  expect(applied).toEqual([])
  expect((await post(response.body, { passphrase })).body).toContain('steward.secure-prompt.done')
  expect(applied).toHaveLength(1)
})

test('a phrase shown by a locked wallet expires at the next lock only', async () => {
  const { wallet, open, post } = await startWallet()
  const { id } = await wallet.addPhrase({ phrase, writtenDown: false, passphrase })
  wallet.lock()
  const revealPhrase = async () => post((await open({ purpose: 'reveal', keyring_id: id })).body, { passphrase })
  const [first, second] = [await revealPhrase(), await revealPhrase()]
  expect(first.body).toContain('junk')
  expect((await post(first.body, { do: 'next' })).status).toBe(200)
  wallet.lock('screen')
  expect((await post(second.body, {})).status).toBe(410)

  const third = await revealPhrase()
  await wallet.unlock(passphrase)
  expect((await post(third.body, {})).status).toBe(200)
  const fourth = await revealPhrase()
  wallet.lock()
  expect((await post(fourth.body, {})).status).toBe(410)
})

test('a form that adds to a wallet expires on lock and cannot unlock it', async () => {
  const { wallet, open, post } = await startWallet()
  await wallet.addPhrase({ phrase, writtenDown: true, passphrase })
  const words = await post((await open({ purpose: 'create' })).body, { passphrase, words: '12' })
  expect(words.body).toContain('<li><span>12</span>')
  const page = await open({ purpose: 'import' })
  wallet.lock()
  expect((await post(words.body, {})).status).toBe(410)
  expect((await post(page.body, { passphrase, phrase })).status).toBe(410)
  expect((await wallet.status()).state).toBe('locked')
})

test('a lost vault accepts a new passphrase but a damaged one is never overwritten', async () => {
  const { wallet, open, ask, post, vaultFile } = await startWallet()
  const { id } = await wallet.addPhrase({ phrase, writtenDown: true, passphrase })
  wallet.lock()
  writeFileSync(vaultFile, '{')
  for (const purpose of ['create', 'import']) {
    expect(await (await ask({ purpose })).json()).toMatchObject({ code: 'wallet/damaged' })
  }
  expect(readFileSync(vaultFile, 'utf8')).toBe('{')

  rmSync(vaultFile)
  expect((await open({ purpose: 'create' })).body).toContain('New wallet passphrase')
  const page = await open({ purpose: 'import' })
  const chosen = 'another violet anchor seldom pretzel'
  const done = await post(page.body, { phrase, new_passphrase: chosen, new_passphrase_again: chosen })
  expect(done.body).toContain('data-tells="steward.secure-prompt.done"')
  expect(await wallet.status()).toMatchObject({ state: 'unlocked', detail: null, keyrings: [{ id }] })
})

test('submitting a form twice performs the action once', async () => {
  const { wallet, open, post } = await startWallet()
  const page = await open({ purpose: 'import' })
  const fields = { phrase, new_passphrase: passphrase, new_passphrase_again: passphrase }
  const answers = await Promise.all([post(page.body, fields), post(page.body, fields)])
  for (const { body } of answers) expect(body).toContain('data-tells="steward.secure-prompt.done"')
  expect((await wallet.status()).keyrings).toHaveLength(1)
  await expect(wallet.addPhrase({ phrase, writtenDown: true, passphrase })).rejects.toThrow(AppError)
})

test('exports a file after the passphrase and requires a different password', async () => {
  const { wallet, open, post } = await startWallet()
  await wallet.addPhrase({ phrase, writtenDown: true, passphrase })
  const page = await open({ purpose: 'export', account_id: wallet.account('evm').id })
  const same = await post(page.body, { passphrase, password: passphrase, password_again: passphrase })
  expect(same.body).toContain('use your wallet passphrase for the file.')
  const password = 'eleven quiet rivers'
  const wrong = await post(same.body, { passphrase: 'not the passphrase', password, password_again: password })
  expect(wrong.body).toContain('Wrong passphrase.')
  const ready = await post(wrong.body, { passphrase, password, password_again: password })
  const { status, headers, body } = await post(ready.body, { do: 'download' })
  expect([status, headers['content-disposition']]).toEqual([
    200,
    expect.stringContaining('attachment; filename="UTC--'),
  ])
  expect((await openKeystore(body, password)).address).toBe(wallet.account('evm').address.slice(2).toLowerCase())
})
