import type { SandboxSpec } from '#shared/contract/hostIpc.ts'
import type { Enforced } from '#shared/contract/sandboxes.ts'
import { createFileOperations, listSandboxFiles } from '../inside/fileWork.ts'
import { readSandboxFile, writeSandboxFile } from '../inside/sandboxFiles.ts'
import { createSandboxLife } from '../inside/sandboxLife.ts'
import type { ExecRequest, SandboxInstance } from '../sandboxRuntime.ts'
import type { ChannelEnding } from './agentChannel.ts'
import type { AgentConnection } from './agentConnection.ts'
import { runInContainer } from './containerCommand.ts'
import { createContainerFileAccess } from './containerFiles.ts'
import { createContainerMeter } from './containerMeter.ts'
import { connectContainerPort } from './containerPort.ts'
import { listContainerPorts, listContainerProcesses, signalContainerProcess } from './containerProcesses.ts'
import type { Containers } from './containers.ts'
import { openContainerTerminal } from './containerTerminal.ts'
import type { DockerEngine } from './dockerEngine.ts'

type RunningOptions = {
  spec: SandboxSpec
  engine: DockerEngine
  containers: Containers
  /** Container id. */
  container: string
  agent: AgentConnection
  enforced: Enforced
  /** Environment that the image adds to every command, as NAME=VALUE. */
  environment: readonly string[]
  now: () => number
}

/** Time for reading the last output of a killed container, in milliseconds. */
const endTimeoutMs = 5_000
/** Killing the first process kills all processes in a container. */
const killed: ChannelEnding = { kind: 'ended', status: 9 }

export function createRunningContainer(
  options: RunningOptions,
): SandboxInstance & Pick<AgentConnection, 'suspendTimeout'> {
  const { spec, engine, containers, container, agent, enforced, environment, now } = options
  const door = createContainerFileAccess(agent)
  const life = createSandboxLife(spec.id)
  const { inside } = life
  const usage = createContainerMeter(engine, container)

  const ended = agent.over.then(async (detail) => {
    life.onConnectionLost()
    const sentence = await containers.end(container, detail)
    agent.bury(killed)
    return life.end(sentence)
  })

  const exec = (command: ExecRequest) => inside(() => runInContainer(agent, environment, command))

  return {
    id: spec.id,
    startedAtMs: now(),
    enforced,
    ended,
    async stop() {
      if (life.beginStop()) {
        await containers.kill(container).catch(() => agent.destroy('')) // closing its connection also ends it
        const late = setTimeout(() => agent.destroy(''), endTimeoutMs)
        await agent.over
        clearTimeout(late)
      }
      await ended
    },
    exec,
    usage: () => inside(usage),
    processes: () => inside(() => listContainerProcesses(agent)),
    signal: (pid, signal) => inside(() => signalContainerProcess(agent, { pid, signal })),
    listeningPorts: () => inside(() => listContainerPorts(agent)),
    openTerminal: (terminal) => inside(() => openContainerTerminal(agent, environment, terminal)),
    writeFile: (path, content, signal) => inside(() => writeSandboxFile(door, { path, content, signal })),
    readFile: (path, maxBytes, signal) => inside(() => readSandboxFile(door, { path, maxBytes, signal })),
    listFiles: (path, signal) => inside(() => listSandboxFiles(door, { path, signal })),
    files: createFileOperations((work) => inside(() => work(door)), { exec, over: life.over }),
    connect: (port, signal) => life.trackConnection(() => connectContainerPort(agent, port, signal)),
    suspendTimeout: agent.suspendTimeout,
  }
}
