import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { IpcMessage } from '#platform/ipc/messages.ts'
import {
  FolderArchive,
  HostEvent,
  hostIpcVersion,
  hostMethods,
  PortConnect,
  TerminalAttach,
} from '#shared/contract/hostIpc.ts'
import { ClientStreamMessage, ServerStreamMessage } from '#shared/contract/terminalStream.ts'

/** Returns all schemas of the host's socket protocol. */
function protocolSchemas(): unknown {
  const toJson = (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  const streams = [TerminalAttach, PortConnect, FolderArchive, ClientStreamMessage, ServerStreamMessage]
  const methods = Object.entries(hostMethods).map(([name, { params, result }]) => [
    name,
    toJson(params),
    toJson(result),
  ])
  return [IpcMessage, HostEvent, ...streams].map(toJson).concat(methods as never)
}

const withoutTexts = (key: string, value: unknown): unknown =>
  key === 'description' && typeof value === 'string' ? undefined : value

test('a protocol change requires a new version', () => {
  const fingerprint = createHash('sha256')
    .update(JSON.stringify(protocolSchemas(), withoutTexts))
    .digest('hex')
    .slice(0, 16)
  // If this fails, increase `hostIpcVersion`, unless no release has used the current version, and update the
  // fingerprint here.
  expect({ version: hostIpcVersion, fingerprint }).toEqual({ version: 3, fingerprint: 'cc1a4a6982f38d61' })
})
