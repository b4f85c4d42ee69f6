import { expect, test } from 'vitest'
import { AppError } from '#shared/appError.ts'
import { closeTerminal, createTerminal, readTerminal, writeTerminal } from '#shared/contract/terminals.ts'
import type { ServiceClient } from '../connections/serviceClient.ts'
import { createSandboxTransport } from './sandboxTransport.ts'

/** Creates a terminal that refuses input `fullTimes` times before its program reads. */
function startTransport(fullTimes: number, now: () => number = Date.now) {
  const inputs: string[] = []
  const faults: string[] = []
  let refusals = 0
  const call = async (route: unknown, options: { input?: string }): Promise<unknown> => {
    if (route === createTerminal) return { session_id: 'pty_1' }
    if (route !== writeTerminal) return new Promise(() => {})
    if (inputs.length === 1 && refusals < fullTimes) {
      refusals += 1
      throw new AppError('terminal/input-full', 'The program has not read it.')
    }
    inputs.push(options.input ?? '')
    return {}
  }
  const client = { call } as unknown as Pick<ServiceClient, 'call'>
  const onFault = (sentence: string) => faults.push(sentence)
  const options = { client, sandboxId: 's', name: 'n', command: 'c', environment: {}, onFault, now }
  return { transport: createSandboxTransport(options), inputs, faults }
}

const message = { jsonrpc: '2.0' as const, method: 'm', params: { text: 'x'.repeat(200 * 1024) } }

test('waits for a busy program to read a long message', async () => {
  const { transport, inputs, faults } = startTransport(2)
  await transport.start()
  await transport.send(message)
  expect(JSON.parse(inputs.join(''))).toEqual(message)
  expect(faults).toEqual([])
})

test('closes the connection when a program stops reading within a message', async () => {
  let nowMs = 0
  const { transport, faults } = startTransport(Number.POSITIVE_INFINITY, () => {
    nowMs += 30_000
    return nowMs
  })
  await transport.start()
  await expect(transport.send(message)).rejects.toMatchObject({ code: 'terminal/input-full' })
  expect(faults).toEqual(['The program did not read the whole message.'])
  await expect(transport.send(message)).rejects.toMatchObject({ code: 'tool-server/failed' })
})

test('reports the error output of a program that exited before it read its input', async () => {
  const output = Promise.withResolvers<object>()
  const faults: string[] = []
  let mark = ''
  const call = async (route: unknown, options: { command?: string; since?: number }): Promise<unknown> => {
    if (route === createTerminal) {
      mark = `\u001e${/[0-9a-f]{24}/.exec(options.command ?? '')?.[0]}`
      return { session_id: 'pty_1' }
    }
    if (route === readTerminal) return output.promise
    if (route === writeTerminal) throw new AppError('terminal/exited', 'The terminal pty_1 has exited.')
    return {}
  }
  const client = { call } as unknown as Pick<ServiceClient, 'call'>
  const onFault = (sentence: string) => faults.push(sentence)
  const options = { client, sandboxId: 's', name: 'n', command: 'c', environment: {}, onFault, now: Date.now }
  const transport = createSandboxTransport(options)
  await transport.start()
  const sending = transport.send(message)
  const error = Buffer.from('No such file').toString('base64')
  output.resolve({
    ...{ output: `${mark}\n\n${mark}${error}\n`, encoding: 'utf8', cursor: 1, missed: 0 },
    ...{ state: 'exited', exit_code: 127 },
  })
  const sentence = 'The program exited. Error output: No such file'
  await expect(sending).rejects.toMatchObject({ code: 'tool-server/failed', message: sentence })
  expect(faults).toEqual([sentence])
})

test('closing a connection during program startup leaves no terminal', async () => {
  const opening = Promise.withResolvers<{ session_id: string }>()
  const closed: unknown[] = []
  const call = async (route: unknown, input: object): Promise<unknown> => {
    if (route === createTerminal) return opening.promise
    if (route === closeTerminal) closed.push(input)
    return {}
  }
  const client = { call } as unknown as Pick<ServiceClient, 'call'>
  const options = { client, sandboxId: 's', name: 'n', command: 'c', environment: {}, onFault: () => {}, now: Date.now }
  const transport = createSandboxTransport(options)
  const starting = transport.start()
  await transport.close()
  opening.resolve({ session_id: 'pty_1' })
  await expect(starting).rejects.toMatchObject({ code: 'tool-server/failed' })
  expect(closed).toEqual([{ id: 's', sessionId: 'pty_1' }])
})
