import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { request as httpsRequest } from 'node:https'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../support/assertions/eventually.ts'
import { isAlive } from '../support/assertions/processes.ts'
import { openPersonSession, type PersonSession } from '../support/clients/personSession.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { projectFolder } from '../support/fixtures/testProject.ts'
import { type Program, startProgram } from '../support/processes/program.ts'
import { noIpv6Loopback } from '../support/runner/ipv6Loopback.ts'

type AppReady = { event: string; url: string; service_url: string }
type ServiceReady = { event: string; url: string; owner_key_file: string }

const start = 'scripts/start.js'
const service = 'src/main/entries/service.ts'

function startApp(dataFolder: string, parts: readonly string[] = [], environment: NodeJS.ProcessEnv = {}): Program {
  return startProgram(start, ['--no-open', '--json', '--data', dataFolder, ...parts], environment)
}

function startService(dataFolder: string, parts: readonly string[] = ['--listen', '127.0.0.1:0']): Program {
  return startProgram(service, ['--json', '--data', dataFolder, ...parts])
}

async function outcome(script: string, parts: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const program = startProgram(script, parts, environment)
  const { code } = await program.ended
  return { code, stdout: program.stdout(), stderr: program.stderr() }
}

function pidIn(dataFolder: string, lock: string): number {
  return (JSON.parse(readFileSync(join(dataFolder, lock), 'utf8')) as { pid: number }).pid
}

/** Opens the user's session with a start URL. */
async function signIn(url: string): Promise<{ origin: string; session: PersonSession }> {
  const { origin, hash } = new URL(url)
  return { origin, session: await openPersonSession(origin, hash.replace('#token=', '')) }
}

/** Stops sandboxes and their host, which outlive the application, as a user would. */
async function stop(dataFolder: string): Promise<void> {
  expect((await outcome(start, ['stop', '--data', dataFolder])).code).toBe(0)
}

const locksIn = (folder: string) => readdirSync(folder).filter((name) => name.includes('.lock'))

test('starts without a display with a one-line reason and opens at the printed address', async () => {
  const data = temporaryFolder('data')
  const app = startApp(data)
  const ready = await app.ready<AppReady>()
  expect(ready).toEqual({
    event: 'ready',
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{43}$/),
    service_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
  })
  expect(app.stderr().split('\n')).toContainEqual(
    expect.stringMatching(/^No window: .*opens in the browser instead\.$/),
  )
  expect(statSync(data).mode & 0o077).toBe(0)

  const { origin, session } = await signIn(ready.url)
  const page = await fetch(origin)
  expect(page.headers.get('content-type')).toContain('text/html')
  expect(await page.text()).toContain('<title>Steward</title>')
  const listed = await fetch(`${origin}/v1/sandboxes`, { headers: session })
  expect(await listed.json()).toEqual({ sandboxes: [], data: [], count: 0 })
  const direct = await fetch(`${ready.service_url}/v1/sandboxes`)
  expect(direct.status).toBe(401)

  const child = pidIn(data, 'service.lock')
  expect(await app.end('SIGTERM')).toEqual({ code: 0, signal: null })
  expect(app.stdout().trim().split('\n')).toHaveLength(1)
  expect(isAlive(child)).toBe(false)
  expect(locksIn(data)).toEqual([])
  await stop(data)
})

test.skipIf(process.platform !== 'linux')(
  'passes the address to the browser in a page that is deleted after use',
  async () => {
    const [data, home, programs] = [temporaryFolder('data'), temporaryFolder('home'), temporaryFolder('programs')]
    const said = join(temporaryFolder('said'), 'arguments')
    const opener = `#!/bin/sh\nprintf %s "$*" > '${said}.new' && mv '${said}.new' '${said}'\n`
    writeFileSync(join(programs, 'xdg-open'), opener, { mode: 0o755 })
    const environment = { DISPLAY: ':9', HOME: home, PATH: `${programs}:${process.env.PATH}` }
    const app = startProgram(start, ['--browser', '--json', '--data', data], environment)
    const { url } = await app.ready<AppReady>()
    await until('the browser to be asked', () => existsSync(said))
    const invocation = readFileSync(said, 'utf8')
    expect(invocation).toMatch(/^file:\/\/.*\/steward\.html$/)
    expect(readFileSync(fileURLToPath(invocation), 'utf8')).toContain(url)
    await signIn(url)
    await until('the page to be gone', () => !existsSync(fileURLToPath(invocation)))
    expect(await app.end('SIGTERM')).toEqual({ code: 0, signal: null })
    await stop(data)
  },
)

test('a second start opens the running Steward on the same ports', async () => {
  const data = temporaryFolder('data')
  const first = startApp(data)
  const ready = await first.ready<AppReady>()
  const second = await outcome(start, ['--browser', '--no-open', '--data', data])
  expect(second.code).toBe(0)
  expect(second.stdout).toContain('Steward is already running. Open it with this one-time address:')
  const fresh = /http:\S+#token=\S+/.exec(second.stdout)?.[0] ?? ''
  expect(new URL(fresh).host).toBe(new URL(ready.url).host)
  expect(fresh).not.toBe(ready.url)
  await signIn(fresh)
  await first.end('SIGINT')
  const again = startApp(data)
  const later = await again.ready<AppReady>()
  expect(new URL(later.url).host).toBe(new URL(ready.url).host)
  expect(later.service_url).toBe(ready.service_url)
  expect(later.url).not.toBe(ready.url)
  await again.end('SIGTERM')
  await stop(data)
})

test('the next start after a kill recovers the lock after the service ended', async () => {
  const data = temporaryFolder('data')
  const first = startApp(data)
  await first.ready()
  const orphan = pidIn(data, 'service.lock')
  await first.end('SIGKILL')
  expect(locksIn(data)).toContain('steward.lock')
  const second = startApp(data)
  const { url } = await second.ready<AppReady>()
  await until('the orphaned service ends', () => !isAlive(orphan))
  expect(pidIn(data, 'service.lock')).not.toBe(orphan)
  await signIn(url)
  await second.end('SIGTERM')
  await stop(data)
})

test('restarts a killed service at its address and preserves the session', async () => {
  const data = temporaryFolder('data')
  const app = startApp(data)
  const ready = await app.ready<AppReady>()
  const { origin, session } = await signIn(ready.url)
  const before = pidIn(data, 'service.lock')
  process.kill(before, 'SIGKILL')
  await until('another service answers', async () => {
    const reply = await fetch(`${origin}/v1/sandboxes`, { headers: session })
    if (reply.status !== 200) expect(await reply.json()).toMatchObject({ code: 'service/unavailable' })
    return reply.status === 200 && pidIn(data, 'service.lock') !== before
  })
  expect((await fetch(`${ready.service_url}/health`)).status).toBe(200)
  await app.end('SIGTERM')
  await stop(data)
})

test('the service runs without the application once per folder and shuts down cleanly', async () => {
  const data = temporaryFolder('data')
  const program = startService(data)
  const ready = await program.ready<ServiceReady>()
  expect(ready).toEqual({ event: 'ready', url: expect.any(String), owner_key_file: join(data, 'owner.key') })
  expect(statSync(ready.owner_key_file).mode & 0o777).toBe(0o600)
  const key = readFileSync(ready.owner_key_file, 'utf8').trim()
  const listed = await fetch(`${ready.url}/v1/sandboxes`, { headers: { 'x-api-key': key } })
  expect(listed.status).toBe(200)
  const second = await outcome(service, ['--data', data])
  expect(second.code).toBe(3)
  expect(second.stderr).toContain(`(process ${program.pid}) is already using`)
  expect(await program.end('SIGTERM')).toEqual({ code: 0, signal: null })
  expect(locksIn(data)).toEqual([])
  await stop(data)
})

test('requires TLS or --insecure-behind-proxy to listen beyond loopback', async () => {
  const data = temporaryFolder('data')
  const refused = await outcome(service, ['--data', data, '--listen', '0.0.0.0:0'])
  expect(refused.code).toBe(3)
  expect(refused.stderr).toMatch(/^steward: Listening on 0\.0\.0\.0 without TLS/m)
  expect(locksIn(data)).toEqual([])
  const allowed = startService(data, ['--listen', '0.0.0.0:0', '--insecure-behind-proxy'])
  const { url } = await allowed.ready<ServiceReady>()
  expect((await fetch(`${url}/health`)).status).toBe(200)
  await allowed.end('SIGTERM')
  await stop(data)
})

test('the application reaches its service with TLS', async () => {
  const data = temporaryFolder('data')
  const certificate = join(projectFolder, 'test/support/tls/certificate.pem')
  const tls = { cert_file: certificate, key_file: join(projectFolder, 'test/support/tls/key.pem') }
  writeFileSync(join(data, 'config.json'), JSON.stringify({ service: { tls } }))
  const app = startApp(data)
  const ready = await app.ready<AppReady>()
  expect(ready.service_url).toMatch(/^https:/)
  const { origin, session } = await signIn(ready.url)
  expect((await fetch(`${origin}/v1/sandboxes`, { headers: session })).status).toBe(200)
  await until('the events are connected', async () => {
    const status = await fetch(`${origin}/local/status`, { headers: session })
    return JSON.stringify(await status.json()).includes('"connected"')
  })
  expect(await tlsStatus(`${ready.service_url}/health`, readFileSync(certificate, 'utf8'))).toBe(200)
  await app.end('SIGTERM')
  await stop(data)
})

test.each([
  ['an unknown option', start, ['--brwser'], /Unknown option --brwser/],
  ['an unknown command', start, ['docter'], /Unknown command docter/],
  ['a missing value', start, ['--data'], /--data requires DIR/],
  ['a wrong address', start, ['--listen', 'here'], /--listen here is not valid/],
  [
    'an address others reach',
    start,
    ['--browser', '--listen', '0.0.0.0:0'],
    /only listens on loopback, not on 0\.0\.0\.0:0/,
  ],
  ['an unknown option of the service', service, ['--port', '80'], /Unknown option --port/],
  ['a wrong address of the service', service, ['--listen', '80'], /--listen 80 is not valid/],
])('%s exits with code 2 and a one-line message', async (_, script, parts, message) => {
  const data = temporaryFolder('data')
  const programArguments = parts.includes('--data') ? parts : [...parts, '--data', data]
  const { code, stdout, stderr } = await outcome(script, programArguments)
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr.trim().split('\n').at(-1)).toMatch(message)
  expect(locksIn(data)).toEqual([])
})

test.skipIf(noIpv6Loopback)('both programs exit with an error if another program uses the port at ::1', async () => {
  const theirs = createServer().listen({ host: '::1', port: 0 })
  onTestFinished(() => void theirs.close())
  await once(theirs, 'listening')
  const { port } = theirs.address() as AddressInfo // listens on TCP
  const data = temporaryFolder('data')
  for (const [script, parts] of [
    [start, ['--browser', '--no-open']],
    [service, []],
  ] as const) {
    const { code, stderr } = await outcome(script, [...parts, '--data', data, '--listen', `127.0.0.1:${port}`])
    expect(code).toBe(3)
    expect(stderr).toContain(`Cannot listen on [::1]:${port}: another program is already listening there.`)
  }
  expect(locksIn(data)).toEqual([])
})

test.each([
  ['a key of the file', { service: { lisen: 'x' } }, {}, /Unknown key `service\.lisen` in .*config\.json/],
  ['a value of the environment', {}, { STEWARD_LOG_LEVEL: 'loud' }, /`log\.level` \(from STEWARD_LOG_LEVEL\) must be/],
])('%s that is invalid ends both programs with an error naming it', async (_, content, environment, message) => {
  const data = temporaryFolder('data')
  writeFileSync(join(data, 'config.json'), JSON.stringify(content))
  for (const [script, parts] of [
    [start, ['--browser', '--no-open']],
    [service, []],
  ] as const) {
    const { code, stderr } = await outcome(script, [...parts, '--data', data], environment)
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  }
})

test('a start fails with the reason if the service cannot start', async () => {
  const data = temporaryFolder('data')
  writeFileSync(join(data, 'service.sqlite'), 'this is no database, and nobody may overwrite it')
  const { code, stderr } = await outcome(start, ['--browser', '--no-open', '--data', data])
  expect(code).toBe(3)
  expect(stderr).toMatch(/^steward: The service exited with code 3\. .*service\.sqlite/m)
  expect(readFileSync(join(data, 'service.sqlite'), 'utf8')).toContain('this is no database')
  expect(locksIn(data)).toEqual([])
})

test('doctor reports the capabilities of this computer as text and as JSON', async () => {
  const data = temporaryFolder('data')
  const plain = await outcome(start, ['doctor', '--data', data])
  for (const name of [
    'Steward',
    'Window',
    'Sandboxes (bubblewrap)',
    'Keychain',
    'Wallet',
    'Network (service)',
    'Data',
  ]) {
    expect(plain.stdout).toMatch(new RegExp(`^(works|limited|missing) +${name.replace(/[()]/g, '\\$&')}: .+\\.$`, 'm'))
  }
  const json = await outcome(start, ['doctor', '--json', '--data', data])
  const { event, findings } = JSON.parse(json.stdout) as { event: string; findings: { name: string; state: string }[] }
  expect(event).toBe('doctor')
  const sandboxes = findings.find(({ name }) => name === 'Sandboxes (bubblewrap)')
  expect(json.code).toBe(sandboxes?.state === 'missing' ? 1 : 0)
})

test('stop ends application, service and host before it reports that nothing runs', async () => {
  const data = temporaryFolder('data')
  const app = startApp(data)
  const ready = await app.ready<AppReady>()
  const key = readFileSync(join(data, 'owner.key'), 'utf8').trim()
  const reports = await fetch(`${ready.service_url}/v1/runtimes`, { headers: { authorization: key } })
  expect(reports.status).toBe(200)
  const host = Number(readFileSync(join(data, 'host', 'host.pid'), 'utf8'))
  expect(isAlive(host)).toBe(true)
  const stopped = await outcome(start, ['stop', '--json', '--data', data])
  expect(JSON.parse(stopped.stdout)).toEqual({
    event: 'stopped',
    ended: [`Steward (process ${app.pid})`, `sandbox host (process ${host})`],
  })
  expect((await app.ended).code).toBe(0)
  expect(isAlive(host)).toBe(false)
  expect(existsSync(join(data, 'host', 'host.pid'))).toBe(false)
  const again = await outcome(start, ['stop', '--data', data])
  expect(again.stdout).toBe(`Nothing is running in ${data}.\n`)
})

test('stop ends a host that does not respond', async () => {
  const data = temporaryFolder('data')
  const app = startApp(data)
  await app.ready<AppReady>()
  const pidFile = join(data, 'host', 'host.pid')
  const host = await until('the host', () => existsSync(pidFile) && Number(readFileSync(pidFile, 'utf8')))
  process.kill(host, 'SIGSTOP')
  const stopped = await outcome(start, ['stop', '--json', '--data', data])
  expect(stopped.code).toBe(0)
  expect(JSON.parse(stopped.stdout)).toEqual({
    event: 'stopped',
    ended: [`Steward (process ${app.pid})`, `unresponsive sandbox host (process ${host})`],
  })
  expect(isAlive(host)).toBe(false)
})

test('help and version do not need a data folder', async () => {
  expect((await outcome(start, ['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  expect((await outcome(start, ['--help'])).stdout).toContain('--no-open')
  expect((await outcome(service, ['--help'])).stdout).toContain('--insecure-behind-proxy')
})

/** Returns the status over TLS. `fetch` does not accept a custom CA certificate. */
function tlsStatus(url: string, ca: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest(url, { ca, checkServerIdentity: () => undefined, agent: false }, (reply) => {
      reply.resume()
      reply.on('end', () => resolve(reply.statusCode ?? 0))
    })
    request.on('error', reject)
    request.end()
  })
}
