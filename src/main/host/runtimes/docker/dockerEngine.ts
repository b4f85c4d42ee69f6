import { readFile, stat } from 'node:fs/promises'
import { homedir, platform } from 'node:os'
import { join } from 'node:path'
import type Docker from 'dockerode'
import { AppError } from '#shared/appError.ts'
import type { DockerOptions } from './dockerOptions.ts'

/** Container engine of this runtime. Located on first use, and again after it was unavailable. */
export type DockerEngine = {
  /**
   * Performs one operation.
   * @throws AppError `runtime/unavailable` if the engine cannot be reached or does not respond
   */
  use<T>(operation: string, call: (docker: Docker, signal: AbortSignal) => Promise<T>, options?: UseOptions): Promise<T>
  /** Returns the address of the engine, in the notation of the configuration. */
  address(): Promise<string>
}

export type UseOptions = { ms?: number; signal?: AbortSignal }

/** Error response of the engine. */
export class EngineRefusal extends Error {
  readonly status: number

  constructor(status: number, message: string, options: { cause: unknown }) {
    super(message, options)
    this.name = 'EngineRefusal'
    this.status = status
  }
}

const defaultMs = 60_000
const pingMs = 5_000
const startIt =
  'Start Docker, Podman (`podman system service`), OrbStack or Colima, or set `sandboxes.docker.endpoint`.'

export function createDockerEngine(options: DockerOptions): DockerEngine {
  let endpoint: Promise<EngineEndpoint> | undefined

  const getEndpoint = (): Promise<EngineEndpoint> => {
    endpoint ??= find(options)
    endpoint.catch(() => {
      endpoint = undefined
    })
    return endpoint
  }

  return {
    address: async () => (await getEndpoint()).address,
    async use(operation, call, { ms = defaultMs, signal } = {}) {
      const { docker, address } = await getEndpoint()
      const deadline = AbortSignal.timeout(ms)
      const ending = signal ? AbortSignal.any([signal, deadline]) : deadline
      ending.throwIfAborted()
      try {
        return await Promise.race([call(docker, ending), waitForAbort(ending)])
      } catch (error) {
        signal?.throwIfAborted()
        if (deadline.aborted)
          throw createUnreachableError(
            `The container engine at ${address} did not ${operation} within ${ms} ms.`,
            error,
          )
        const refusal = findRefusal(error)
        if (refusal) throw refusal
        if (!isConnectionFailure(error)) throw error
        endpoint = undefined
        throw createUnreachableError(
          `The container engine at ${address} cannot be reached (${toReason(error)}). ${startIt}`,
          error,
        )
      }
    },
  }
}

type EngineEndpoint = { docker: Docker; address: string }

/** Returns the configured endpoint, or the first default socket on which an engine responds. */
async function find(options: DockerOptions): Promise<EngineEndpoint> {
  const { endpoint } = options
  if (endpoint !== null) {
    const configured = await createEndpoint(options, endpoint)
    await assertResponding(configured)
    return configured
  }
  const reasons: string[] = []
  for (const path of listDefaultSockets()) {
    if (!(await stat(path).catch(() => undefined))) continue
    const candidate = await createEndpoint(options, `unix://${path}`)
    try {
      await assertResponding(candidate)
      return candidate
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : String(error))
    }
  }
  throw createUnreachableError(reasons[0] ?? `No container engine was found. ${startIt}`, undefined)
}

async function assertResponding({ docker, address }: EngineEndpoint): Promise<void> {
  try {
    await Promise.race([docker.ping(), waitForAbort(AbortSignal.timeout(pingMs))])
  } catch (error) {
    const reason = error instanceof Error && error.name === 'TimeoutError' ? 'no response' : toReason(error)
    throw createUnreachableError(`The container engine at ${address} cannot be reached (${reason}). ${startIt}`, error)
  }
}

/** Default sockets of Docker, Podman, OrbStack, Colima and Docker Desktop. */
function listDefaultSockets(): string[] {
  if (platform() === 'win32') return ['//./pipe/docker_engine']
  const home = homedir()
  const uid = process.getuid?.() // userInfo() fails for a user without a passwd entry, as in containers
  return [
    '/var/run/docker.sock',
    join(home, '.docker', 'run', 'docker.sock'),
    join(home, '.orbstack', 'run', 'docker.sock'),
    join(home, '.colima', 'default', 'docker.sock'),
    join(home, '.local', 'share', 'containers', 'podman', 'machine', 'podman.sock'),
    uid === 0 ? '/run/podman/podman.sock' : `/run/user/${uid}/podman/podman.sock`,
  ]
}

async function createEndpoint({ tls }: DockerOptions, endpoint: string): Promise<EngineEndpoint> {
  // Imported only if an engine may exist: with its SSH and gRPC support, it accounts for a third of the host's start
  // time.
  const { default: Docker } = await import('dockerode')
  // Overrides the fields that dockerode would take from the environment.
  const nothing = { host: undefined, port: undefined, ca: undefined, cert: undefined, key: undefined }
  if (/^(unix|npipe):/.test(endpoint)) {
    const socketPath = endpoint.replace(/^(unix|npipe):\/\//, '')
    return { docker: new Docker({ ...nothing, protocol: 'http', socketPath }), address: endpoint }
  }
  const { hostname, port } = new URL(endpoint)
  const files = tls && {
    ca: await readPem(tls.caFile),
    cert: await readPem(tls.certFile),
    key: await readPem(tls.keyFile),
  }
  const protocol = files ? 'https' : 'http'
  const host = hostname.replace(/^\[|\]$/g, '')
  return {
    docker: new Docker({ ...nothing, ...files, protocol, host, port: port || (files ? 2376 : 2375) }),
    address: endpoint,
  }
}

async function readPem(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    throw createUnreachableError(`Cannot read ${file}, a file in \`sandboxes.docker.tls\`.`, cause)
  }
}

function createUnreachableError(message: string, cause: unknown): AppError {
  return new AppError('runtime/unavailable', message, { cause })
}

function waitForAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

/** Converts an error of dockerode, which has the engine's response in `statusCode` and `json`. */
function findRefusal(error: unknown): EngineRefusal | undefined {
  if (!(error instanceof Error) || !('statusCode' in error) || typeof error.statusCode !== 'number') return undefined
  const body = 'json' in error ? error.json : undefined
  const said = typeof body === 'object' && body !== null && 'message' in body ? String(body.message) : error.message
  return new EngineRefusal(error.statusCode, said.trim(), { cause: error })
}

function isConnectionFailure(error: unknown): boolean {
  return error instanceof Error && 'code' in error
}

function toReason(error: unknown): string {
  if (error instanceof Error && 'code' in error) return String(error.code)
  return error instanceof Error ? error.message : String(error)
}
