import type { SandboxSpec } from '#shared/contract/hostIpc.ts'
import type { Enforced } from '#shared/contract/sandboxes.ts'
import type { OperationResult } from '../inside/execProtocol.ts'
import { createFileOperations, listSandboxFiles } from '../inside/fileWork.ts'
import { runCommand } from '../inside/runCommand.ts'
import { readSandboxFile, writeSandboxFile } from '../inside/sandboxFiles.ts'
import { createSandboxLife } from '../inside/sandboxLife.ts'
import type { ExecRequest, SandboxInstance } from '../sandboxRuntime.ts'
import type { AgentConnection } from './agentConnection.ts'
import { createAgentTransport } from './agentTransport.ts'
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
const killed: OperationResult = { kind: 'ended', status: 9 }

export function createRunningContainer(
  options: RunningOptions,
): SandboxInstance & Pick<AgentConnection, 'suspendTimeout'> {
  const { spec, engine, containers, container, agent, enforced, environment, now } = options
  const transport = createAgentTransport(agent)
  const life = createSandboxLife(spec.id)
  const { inside } = life
  const usage = createContainerMeter(engine, container)

  const ended = agent.over.then(async (detail) => {
    life.onConnectionLost()
    const sentence = await containers.end(container, detail)
    agent.bury(killed)
    return life.end(sentence)
  })

  const exec = (command: ExecRequest) => inside(() => runCommand(transport, command, environment))

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
    writeFile: (path, content, signal) => inside(() => writeSandboxFile(transport, { path, content, signal })),
    readFile: (path, maxBytes, signal) => inside(() => readSandboxFile(transport, { path, maxBytes, signal })),
    listFiles: (path, signal) => inside(() => listSandboxFiles(transport, { path, signal })),
    files: createFileOperations((work) => inside(() => work(transport)), { exec, over: life.over }),
    connect: (port, signal) => life.trackConnection(() => connectContainerPort(agent, port, signal)),
    suspendTimeout: agent.suspendTimeout,
  }
}
