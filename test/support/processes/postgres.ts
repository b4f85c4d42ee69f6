import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { eventually } from '../assertions/eventually.ts'
import { listDescendants } from '../assertions/processes.ts'
import { temporaryFolder } from '../fixtures/temporaryFolder.ts'

/** PostgreSQL server of a test, on a Unix socket in a temporary folder. A crash of the computer may lose its data. */
export type TestPostgres = {
  /** Creates an empty database. @returns its URL */
  createDatabase(): Promise<string>
  /** Folder of its Unix socket. */
  readonly socketFolder: string
  /** Port on 127.0.0.1 and in the name of the socket. */
  readonly port: number
  /** Ends the server at once, as a crash does: sessions are cut off without a message. */
  kill(): Promise<void>
  /** Starts it again after `kill`. */
  start(): Promise<void>
  /** Suspends (`SIGSTOP`) or resumes (`SIGCONT`) all processes of the server. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
  stop(): Promise<void>
}

const debianFolder = '/usr/lib/postgresql'
const programs = findPrograms()
/** Reason for which PostgreSQL cannot be started here. */
export const postgresMissing: string | undefined =
  programs === undefined ? 'PostgreSQL is not installed: run ./setup --test' : undefined

type Options = {
  /** Files with the certificate and key, with which the server accepts TLS on 127.0.0.1 and 127.0.0.2. */
  tls?: { cert: string; key: string }
}

const isRoot = process.getuid?.() === 0
/** Unprivileged user of every system. The server refuses to run as root, and as a user without a name. */
const userId = 65_534
/** Prefix of commands that run as this user. */
export const asUnprivileged = isRoot
  ? ['setpriv', '--reuid', String(userId), '--regid', String(userId), '--clear-groups']
  : ['env']
const settings = {
  listen_addresses: '',
  fsync: 'off',
  full_page_writes: 'off',
  shared_buffers: '16MB',
  max_connections: '60',
  autovacuum: 'off',
}

export async function startPostgres({ tls }: Options = {}): Promise<TestPostgres> {
  if (programs === undefined) throw new Error(postgresMissing)
  const folder = temporaryFolder('postgres')
  const [data, sockets] = [join(folder, 'data'), join(folder, 'sockets')]
  for (const path of [data, sockets]) mkdirSync(path, { mode: 0o700 })
  if (isRoot) for (const path of [folder, data, sockets]) chownSync(path, userId, userId)
  const [command = '', ...prefix] = asUnprivileged
  const init = [join(programs, 'initdb'), '-D', data, '-U', 'steward', '-A', 'trust', '-E', 'UTF8', '--locale=C']
  await promisify(execFile)(command, [...prefix, ...init, '--no-sync'], { cwd: '/' })

  const port = tls ? await findFreePort() : 5432
  const buildUrl = (database: string) =>
    `postgresql://steward@/${database}?host=${encodeURIComponent(sockets)}&port=${port}`
  const execute = async (sql: string): Promise<void> => {
    const client = new Client({ connectionString: buildUrl('postgres') })
    await client.connect()
    try {
      await client.query(sql)
    } finally {
      await client.end()
    }
  }

  let server: ChildProcess | undefined
  let databases = 0
  const start = async (): Promise<void> => {
    const listening = tls && { listen_addresses: '127.0.0.1,127.0.0.2', ssl: 'on', ...writeTlsFiles(folder, tls) }
    const fixed = { port: String(port), unix_socket_directories: sockets, log_min_messages: 'fatal' }
    const options = Object.entries({ ...settings, ...fixed, ...listening })
    const parts = [
      join(programs, 'postgres'),
      '-D',
      data,
      ...options.flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ]
    server = spawn(command, [...prefix, ...parts], { cwd: '/', stdio: ['ignore', 'ignore', 'ignore'] })
    await eventually(() => execute('SELECT 1'), 60_000)
  }
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
    const exited = once(server, 'exit')
    server.kill(signal)
    await exited
  }

  await start()
  return {
    socketFolder: sockets,
    port,
    async createDatabase() {
      databases += 1
      const name = `test_${databases}`
      await execute(`CREATE DATABASE ${name} TEMPLATE template0`)
      return buildUrl(name)
    },
    kill: () => end('SIGQUIT'),
    start,
    signal(name) {
      const pid = server?.pid
      if (pid === undefined) return
      // The parent first, so that it starts no further process
      for (const it of [pid, ...listDescendants(pid).map((child) => child.pid)]) process.kill(it, name)
    },
    stop: () => end('SIGINT'),
  }
}

/** Writes copies that the server may read. Refused by the server if others could read the key. */
function writeTlsFiles(folder: string, { cert, key }: { cert: string; key: string }) {
  const files = { ssl_cert_file: join(folder, 'server.pem'), ssl_key_file: join(folder, 'server.key') }
  writeFileSync(files.ssl_cert_file, cert, { mode: 0o600 })
  writeFileSync(files.ssl_key_file, key, { mode: 0o600 })
  if (isRoot) for (const path of Object.values(files)) chownSync(path, userId, userId)
  return files
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** @returns the folder of the newest installed server */
function findPrograms(): string | undefined {
  if (!existsSync(debianFolder)) return undefined
  const versions = readdirSync(debianFolder).sort((a, b) => Number(b) - Number(a))
  return versions.map((it) => join(debianFolder, it, 'bin')).find((value) => existsSync(join(value, 'initdb')))
}
