import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPostgresStore } from '#storage/postgres/postgresStore.ts'
import { defineStatement } from '#storage/store.ts'
import { eventually } from '../support/assertions/eventually.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { asUnprivileged, postgresMissing, startPostgres, type TestPostgres } from '../support/processes/postgres.ts'
import { skipWhen } from '../support/runner/skipWhen.ts'
import { testTls } from '../support/tls/tlsFiles.ts'

/** Servers between which operators choose: behind Debian's pgbouncer, and with TLS. */
const poolerFile = '/usr/sbin/pgbouncer'
const poolerMissing = existsSync(poolerFile) ? undefined : 'pgbouncer is not installed: run ./setup --test'
const one = defineStatement('SELECT 1 AS one').withRows((row) => row.one)

let server: TestPostgres | undefined
let database = ''
beforeAll(async () => {
  if (postgresMissing !== undefined) return
  server = await startPostgres({ tls: testTls })
  database = /@\/(\w+)\?/.exec(await server.createDatabase())?.[1] ?? ''
})
afterAll(() => server?.stop())

const readOne = async (url: string): Promise<unknown> => {
  const store = await openPostgresStore({ url })
  try {
    return await store.read.first(one)
  } finally {
    await store.close()
  }
}

describe('a pooler', () => {
  skipWhen(postgresMissing ?? poolerMissing)

  test('that moves clients to another session after each transaction is refused', async () => {
    await withPooler('transaction', async (url) => {
      await expect(readOne(url)).rejects.toMatchObject({
        code: 'data/unusable',
        message: expect.stringContaining('transaction pooler'),
      })
    })
  })

  test('that keeps the session of a client is accepted', async () => {
    await withPooler('session', async (url) => expect(await readOne(url)).toBe(1))
  })
})

test('an unknown database and user are reported without their values', async (context) => {
  if (postgresMissing !== undefined) return context.skip(postgresMissing)
  for (const url of [
    `postgresql://steward@127.0.0.1:${server?.port}/absent`,
    `postgresql://nobody@127.0.0.1:${server?.port}/${database}`,
  ]) {
    await expect(readOne(url)).rejects.toMatchObject({
      code: 'data/unusable',
      message: 'The database refused the sign-in. Check the user, the password and the name of the database.',
    })
  }
})

describe('a server with TLS', () => {
  skipWhen(postgresMissing)

  const buildUrl = (host: string, query: Record<string, string>): string =>
    `postgresql://steward@${host}:${server?.port}/${database}?${new URLSearchParams(query)}`
  const rootFile = (): string => {
    const path = join(temporaryFolder('root'), 'root.pem')
    writeFileSync(path, testTls.cert)
    return path
  }

  test('is used if its certificate is valid for its name', async () => {
    const query = { sslmode: 'verify-full', sslrootcert: rootFile() }
    expect(await readOne(buildUrl('localhost', query))).toBe(1)
    expect(await readOne(buildUrl('127.0.0.1', query))).toBe(1)
  })

  test('is refused if the authority of its certificate is unknown', async () => {
    await expect(readOne(buildUrl('localhost', { sslmode: 'verify-full' }))).rejects.toMatchObject({
      code: 'data/unavailable',
      cause: { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' },
    })
  })

  test('is refused if its certificate has another name', async () => {
    const query = { sslmode: 'verify-full', sslrootcert: rootFile() }
    await expect(readOne(buildUrl('127.0.0.2', query))).rejects.toMatchObject({
      code: 'data/unavailable',
      cause: { code: 'ERR_TLS_CERT_ALTNAME_INVALID' },
    })
  })
})

async function withPooler(mode: 'transaction' | 'session', work: (url: string) => Promise<void>): Promise<void> {
  const folder = temporaryFolder('pooler')
  const file = join(folder, 'pgbouncer.ini')
  writeFileSync(
    file,
    [
      '[databases]',
      `* = host=${server?.socketFolder} port=${server?.port} user=steward`,
      '[pgbouncer]',
      `unix_socket_dir = ${folder}`,
      ...['listen_port = 6432', 'auth_type = any', `pool_mode = ${mode}`, 'default_pool_size = 4'],
      'ignore_startup_parameters = extra_float_digits',
    ].join('\n'),
  )
  chmodSync(file, 0o644)
  if (process.getuid?.() === 0) chownSync(folder, 65_534, 65_534)
  const [command = '', ...prefix] = asUnprivileged
  const pooler: ChildProcess = spawn(command, [...prefix, poolerFile, '-q', file], { cwd: '/', stdio: 'ignore' })
  try {
    await eventually(() => expect(existsSync(join(folder, '.s.PGSQL.6432'))).toBe(true), 30_000)
    await work(`postgresql://steward@/${database}?host=${encodeURIComponent(folder)}&port=6432`)
  } finally {
    const exited = once(pooler, 'exit')
    pooler.kill('SIGINT')
    await exited
  }
}
