import { readFile, stat } from 'node:fs/promises'
import { homedir, platform } from 'node:os'
import { join } from 'node:path'
import type Docker from 'dockerode'
import { AppError } from '#shared/appError.ts'
import type { DockerOptions } from './dockerOptions.ts'

/** The one engine that this runtime uses: found when it is first needed, and again when it was away. */
export type DockerEngine = {
  /** Does one thing with it. @throws AppError `runtime/unavailable` when it cannot be reached or does not answer */
  use<T>(what: string, call: (docker: Docker, signal: AbortSignal) => Promise<T>, options?: UseOptions): Promise<T>
  /** Where it is, as people write it. */
  address(): Promise<string>
}

export type UseOptions = { ms?: number; signal?: AbortSignal }

/** What the engine said about something it did not do. */
export class EngineRefusal extends Error {
  readonly status: number

  constructor(status: number, message: string, options: { cause: unknown }) {
    super(message, options)
    this.name = 'EngineRefusal'
    this.status = status
  }
}

const usualMs = 60_000
const pingMs = 5_000
const startIt =
  'Start Docker, Podman (`podman system service`), OrbStack or Colima, or set `sandboxes.docker.endpoint`.'

export function dockerEngine(options: DockerOptions): DockerEngine {
  let found: Promise<Place> | undefined

  const place = (): Promise<Place> => {
    found ??= find(options)
    found.catch(() => {
      found = undefined
    })
    return found
  }

  return {
    address: async () => (await place()).address,
    async use(what, call, { ms = usualMs, signal } = {}) {
      const { docker, address } = await place()
      const deadline = AbortSignal.timeout(ms)
      const ending = signal ? AbortSignal.any([signal, deadline]) : deadline
      ending.throwIfAborted()
      try {
        return await Promise.race([call(docker, ending), given(ending)])
      } catch (failure) {
        signal?.throwIfAborted()
        if (deadline.aborted) throw away(`The container engine at ${address} did not ${what} in ${ms} ms.`, failure)
        const refusal = refusalOf(failure)
        if (refusal) throw refusal
        if (!isConnectionFailure(failure)) throw failure
        found = undefined
        throw away(`The container engine at ${address} cannot be reached (${reasonOf(failure)}). ${startIt}`, failure)
      }
    },
  }
}

type Place = { docker: Docker; address: string }

/** Without an endpoint of the configuration, the first of the usual sockets where an engine answers. */
async function find(options: DockerOptions): Promise<Place> {
  const { endpoint } = options
  if (endpoint !== null) {
    const given = await placeOf(options, endpoint)
    await answers(given)
    return given
  }
  const reasons: string[] = []
  for (const path of usualSockets()) {
    if (!(await stat(path).catch(() => undefined))) continue
    const usual = await placeOf(options, `unix://${path}`)
    try {
      await answers(usual)
      return usual
    } catch (failure) {
      reasons.push(failure instanceof Error ? failure.message : String(failure))
    }
  }
  throw away(reasons[0] ?? `No container engine was found. ${startIt}`, undefined)
}

async function answers({ docker, address }: Place): Promise<void> {
  try {
    await Promise.race([docker.ping(), given(AbortSignal.timeout(pingMs))])
  } catch (failure) {
    const reason = failure instanceof Error && failure.name === 'TimeoutError' ? 'no answer' : reasonOf(failure)
    throw away(`The container engine at ${address} cannot be reached (${reason}). ${startIt}`, failure)
  }
}

/** Of Docker, Podman, OrbStack, Colima and Docker Desktop. */
function usualSockets(): string[] {
  if (platform() === 'win32') return ['//./pipe/docker_engine']
  const home = homedir()
  const uid = process.getuid?.() // userInfo() fails for a user without an entry in passwd, as in containers
  return [
    '/var/run/docker.sock',
    join(home, '.docker', 'run', 'docker.sock'),
    join(home, '.orbstack', 'run', 'docker.sock'),
    join(home, '.colima', 'default', 'docker.sock'),
    join(home, '.local', 'share', 'containers', 'podman', 'machine', 'podman.sock'),
    uid === 0 ? '/run/podman/podman.sock' : `/run/user/${uid}/podman/podman.sock`,
  ]
}

async function placeOf({ tls }: DockerOptions, endpoint: string): Promise<Place> {
  // Only when an engine may be there: with what it can do over SSH and gRPC, it is a third of the host's start.
  const { default: Docker } = await import('dockerode')
  // What dockerode would take from the environment is set aside.
  const nothing = { host: undefined, port: undefined, ca: undefined, cert: undefined, key: undefined }
  if (/^(unix|npipe):/.test(endpoint)) {
    const socketPath = endpoint.replace(/^(unix|npipe):\/\//, '')
    return { docker: new Docker({ ...nothing, protocol: 'http', socketPath }), address: endpoint }
  }
  const { hostname, port } = new URL(endpoint)
  const files = tls && {
    ca: await pem(tls.caFile),
    cert: await pem(tls.certFile),
    key: await pem(tls.keyFile),
  }
  const protocol = files ? 'https' : 'http'
  const host = hostname.replace(/^\[|\]$/g, '')
  return {
    docker: new Docker({ ...nothing, ...files, protocol, host, port: port || (files ? 2376 : 2375) }),
    address: endpoint,
  }
}

async function pem(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    throw away(`\`sandboxes.docker.tls\` names ${file}, which cannot be read.`, cause)
  }
}

function away(message: string, cause: unknown): AppError {
  return new AppError('runtime/unavailable', message, { cause })
}

function given(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

/** dockerode gives what the engine said as `statusCode` and `json`. */
function refusalOf(failure: unknown): EngineRefusal | undefined {
  if (!(failure instanceof Error) || !('statusCode' in failure) || typeof failure.statusCode !== 'number')
    return undefined
  const body = 'json' in failure ? failure.json : undefined
  const said = typeof body === 'object' && body !== null && 'message' in body ? String(body.message) : failure.message
  return new EngineRefusal(failure.statusCode, said.trim(), { cause: failure })
}

function isConnectionFailure(failure: unknown): boolean {
  return failure instanceof Error && 'code' in failure
}

function reasonOf(failure: unknown): string {
  if (failure instanceof Error && 'code' in failure) return String(failure.code)
  return failure instanceof Error ? failure.message : String(failure)
}
