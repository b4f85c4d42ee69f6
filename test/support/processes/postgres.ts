import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
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

const isRoot = process.getuid?.() === 0
/** Unprivileged user of every system. The server refuses to run as root, and as a user without a name. */
const userId = 65_534
const asUser = isRoot ? ['setpriv', '--reuid', String(userId), '--regid', String(userId), '--clear-groups'] : ['env']
const settings = {
  listen_addresses: '',
  fsync: 'off',
  full_page_writes: 'off',
  shared_buffers: '16MB',
  max_connections: '60',
  autovacuum: 'off',
}

export async function startPostgres(): Promise<TestPostgres> {
  if (programs === undefined) throw new Error(postgresMissing)
  const folder = temporaryFolder('postgres')
  const [data, sockets] = [join(folder, 'data'), join(folder, 'sockets')]
  for (const path of [data, sockets]) mkdirSync(path, { mode: 0o700 })
  if (isRoot) for (const path of [folder, data, sockets]) chownSync(path, userId, userId)
  const [command = '', ...prefix] = asUser
  const init = [join(programs, 'initdb'), '-D', data, '-U', 'steward', '-A', 'trust', '-E', 'UTF8', '--locale=C']
  await promisify(execFile)(command, [...prefix, ...init, '--no-sync'], { cwd: '/' })

  const buildUrl = (database: string) =>
    `postgresql://steward@/${database}?host=${encodeURIComponent(sockets)}&port=5432`
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
    const options = Object.entries({ ...settings, unix_socket_directories: sockets, log_min_messages: 'fatal' })
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

/** @returns the folder of the newest installed server */
function findPrograms(): string | undefined {
  if (!existsSync(debianFolder)) return undefined
  const versions = readdirSync(debianFolder).sort((a, b) => Number(b) - Number(a))
  return versions.map((it) => join(debianFolder, it, 'bin')).find((value) => existsSync(join(value, 'initdb')))
}
