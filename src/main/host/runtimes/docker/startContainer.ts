import { AppError } from '#shared/appError.ts'
import type { MachineSpec } from '#shared/contract/hostIpc.ts'
import { createAgentConnection } from './agentConnection.ts'
import type { Containers } from './containers.ts'
import type { DockerEngine } from './dockerEngine.ts'
import { createEngineAbilities } from './dockerReport.ts'
import { probeEnforced } from './enforcedInside.ts'
import { createRunningContainer } from './runningContainer.ts'

export type RunningContainer = ReturnType<typeof createRunningContainer>

type StartOptions = {
  spec: MachineSpec
  engine: DockerEngine
  containers: Containers
  /** Container id. */
  container: string
  now: () => number
  signal: AbortSignal
}

const needsBash = 'Its image has no bash, which sandboxes need: images of Debian, Ubuntu and Fedora have it.'

/** Starts what was made before. @throws AppError `sandbox/start-failed`; it does not run then */
export async function startContainer(options: StartOptions): Promise<RunningContainer> {
  const { spec, engine, containers, container, now, signal } = options
  const { enforced: promised } = await createEngineAbilities(engine)
  const environment = toEnvironment((await containers.find(spec.id))?.Config.Env ?? [])
  const agent = createAgentConnection(await containers.start(container, signal))
  const callOff = (): void => agent.destroy('It was called off.')
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
const ofEngine = ['HOME', 'HOSTNAME', 'LOGNAME', 'PWD', 'SHELL', 'TERM', 'USER', 'container']

function toEnvironment(entries: readonly string[]): string[] {
  return entries.filter((it) => !ofEngine.includes(it.split('=', 1)[0] ?? ''))
}
