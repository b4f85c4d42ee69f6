import { AppError } from '#shared/appError.ts'
import type { SandboxSpec } from '#shared/contract/hostIpc.ts'
import type { Enforced } from '#shared/contract/sandboxes.ts'
import { createAgentConnection } from './agentConnection.ts'
import { maxProcesses } from './containerSettings.ts'
import type { Containers } from './containers.ts'
import type { DockerEngine } from './dockerEngine.ts'
import { createEngineAbilities } from './dockerReport.ts'
import { createRunningContainer } from './runningContainer.ts'

export type RunningContainer = ReturnType<typeof createRunningContainer>

type StartOptions = {
  spec: SandboxSpec
  engine: DockerEngine
  containers: Containers
  /** Container id. */
  container: string
  now: () => number
  signal: AbortSignal
}

const needsBash = 'The image has no bash, which sandboxes require. Images of Debian, Ubuntu and Fedora have it.'

/**
 * Starts an existing container. Ensures that it is not running after an error.
 * @throws AppError `sandbox/start-failed`
 */
export async function startContainer(options: StartOptions): Promise<RunningContainer> {
  const { spec, engine, containers, container, now, signal } = options
  const { enforced: promised } = await createEngineAbilities(engine)
  const environment = toEnvironment((await containers.find(spec.id))?.Config.Env ?? [])
  const agent = createAgentConnection(await containers.start(container, signal))
  const callOff = (): void => agent.destroy('The start was cancelled.')
  signal.addEventListener('abort', callOff, { once: true })
  try {
    signal.throwIfAborted()
    const hello = await agent.hello.catch((cause: Error) => {
      throw new AppError('sandbox/start-failed', `The sandbox did not start: ${cause.message}`, { cause })
    })
    if (hello.get('bash') !== 'yes') throw new AppError('sandbox/start-failed', needsBash)
    const enforced = probeEnforced(promised, hello, spec)
    return createRunningContainer({ spec, engine, containers, container, agent, enforced, environment, now })
  } catch (error) {
    agent.destroy('')
    await containers.end(container, '')
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', callOff)
  }
}

/** Variables set by engines, which the sandbox overrides. */
const engineVariables = ['HOME', 'HOSTNAME', 'LOGNAME', 'PWD', 'SHELL', 'TERM', 'USER', 'container']

function toEnvironment(entries: readonly string[]): string[] {
  return entries.filter((entry) => !engineVariables.includes(entry.split('=', 1)[0] ?? ''))
}

/** Returns the limits that the engine enforces, except those that the container's own cgroup contradicts. */
function probeEnforced(promised: Enforced, hello: ReadonlyMap<string, string>, { memoryMb }: SandboxSpec): Enforced {
  const within = (text: string | undefined, max: number): boolean => {
    const value = text?.split(' ')[0] ?? ''
    if (value === '') return true
    return value !== 'max' && Number(value) > 0 && Number(value) <= max
  }
  const quota = hello.get('cpu')?.split(' ')[0] ?? ''
  return {
    memory: promised.memory && within(hello.get('memory'), memoryMb * 1024 * 1024),
    cpu: promised.cpu && quota !== 'max' && quota !== '-1',
    processes: promised.processes && within(hello.get('processes'), maxProcesses),
    disk: promised.disk,
  }
}
