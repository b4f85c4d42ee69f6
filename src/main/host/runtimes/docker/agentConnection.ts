import type { Duplex } from 'node:stream'
import type { OperationResult } from '../inside/execProtocol.ts'
import { type AgentChannel, type AgentRequest, createAgentChannel, type ReceivingChannel } from './agentChannel.ts'
import {
  agentMessageKinds,
  createAgentMessageReader,
  createOutputReader,
  formatAgentMessage,
  hostMessageKinds,
} from './agentMessages.ts'
import { buildAgentScript } from './agentScript.ts'

export type AgentConnection = {
  /** Properties reported by the agent as lines `NAME=VALUE`. Rejects if the agent does not start in time. */
  readonly hello: Promise<ReadonlyMap<string, string>>
  /** Resolves when the connection has closed, with the reason, or an empty string after a normal end. */
  readonly over: Promise<string>
  open(request: AgentRequest): AgentChannel
  /** Suspends the timeout while the container is frozen. @returns a function that resumes it */
  suspendTimeout(): () => void
  /** Ends the remaining channels with this result. Called after `over`. */
  bury(result: OperationResult): void
  destroy(reason: string): void
}

const pingMs = 20_000
/** Unanswered pings after which the agent is considered lost. */
const maxUnansweredPings = 3
const helloTimeoutMs = 20_000
const detailBytes = 2_000

/** @param stream attached stdin and stdout of a container that runs `agentLoader` */
export function createAgentConnection(stream: Duplex): AgentConnection {
  const channels = new Map<number, ReceivingChannel>()
  const hello = Promise.withResolvers<ReadonlyMap<string, string>>()
  const over = Promise.withResolvers<string>()
  let lastChannel = 0
  let silent = 0
  let patience = 0
  let isOver = false
  let buried: OperationResult | undefined
  let complaints = ''

  const destroy = (reason: string): void => {
    if (isOver) return
    isOver = true
    clearInterval(pinging)
    stream.destroy()
    hello.reject(new Error(reason || complaints.trim() || 'The container exited.'))
    over.resolve(reason || complaints.trim())
  }
  hello.promise.catch(() => {}) // prevents an unhandled rejection
  const send = (bytes: Buffer): void => {
    if (!isOver) stream.write(bytes)
  }
  const hear = createAgentMessageReader(({ channel, kind, content }) => {
    if (kind === agentMessageKinds.hello) hello.resolve(readLines(content))
    else channels.get(channel)?.hear(kind, content)
  })
  const outputs = createOutputReader({
    onOutput: hear,
    onErrors(bytes) {
      if (complaints.length < detailBytes) complaints += bytes.toString('utf8')
    },
  })
  stream.on('data', (bytes: Buffer) => {
    silent = 0
    try {
      outputs(bytes)
    } catch (error) {
      destroy(error instanceof Error ? error.message : String(error))
    }
  })
  stream.once('error', (error) => destroy(error.message))
  stream.once('end', () => destroy(''))
  stream.once('close', () => destroy(''))

  const begun = performance.now()
  const pinging = setInterval(() => {
    if (patience > 0) return
    silent += 1
    if (silent > maxUnansweredPings) destroy('The container stopped responding.')
    else send(formatAgentMessage(0, hostMessageKinds.ping))
  }, pingMs)
  const late = setTimeout(() => {
    destroy(`The container did not respond within ${Math.round(performance.now() - begun)} ms.`)
  }, helloTimeoutMs)
  void Promise.race([hello.promise.catch(() => {}), over.promise]).then(() => clearTimeout(late))

  const script = Buffer.from(buildAgentScript())
  stream.write(Buffer.concat([Buffer.from(`\nsteward agent ${script.length}\n`), script]))
  return {
    hello: hello.promise,
    over: over.promise,
    open(request) {
      lastChannel += 1
      const number = lastChannel
      const channel = createAgentChannel({
        request,
        say: (kind, content) => send(formatAgentMessage(number, kind, content)),
        onClosed: () => channels.delete(number),
      })
      channels.set(number, channel)
      if (buried) channel.bury(buried)
      return channel
    },
    suspendTimeout() {
      patience += 1
      return () => {
        patience -= 1
        silent = 0
      }
    },
    bury(result) {
      buried = result
      for (const channel of channels.values()) channel.bury(result)
      channels.clear()
    },
    destroy,
  }
}

function readLines(content: Buffer): ReadonlyMap<string, string> {
  const lines = content.toString('utf8').split('\n')
  return new Map(lines.map((line) => [line.split('=', 1)[0] ?? '', line.slice(line.indexOf('=') + 1)]))
}
