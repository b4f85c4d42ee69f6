import { z } from 'zod'

/** Frame headers. The client assigns the ids of calls and streams, which are numbered separately. */
export const IpcMessage = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('call'), id: z.int(), method: z.string(), params: z.unknown() }),
  z.object({ kind: z.literal('cancel'), id: z.int() }),
  z.object({ kind: z.literal('result'), id: z.int(), result: z.unknown() }),
  z.object({
    kind: z.literal('error'),
    id: z.int(),
    code: z.string(),
    message: z.string(),
    detail: z.string().optional(),
  }),
  z.object({ kind: z.literal('event'), event: z.unknown() }),
  z.object({ kind: z.literal('open'), stream: z.int(), params: z.unknown() }),
  /** With `message`, the payload is JSON; otherwise the body is the bytes. */
  z.object({ kind: z.literal('data'), stream: z.int(), message: z.unknown().optional() }),
  /** Either side ends a stream. `code` is set after an error. */
  z.object({
    kind: z.literal('end'),
    stream: z.int(),
    code: z.string().optional(),
    message: z.string().optional(),
  }),
])
export type IpcMessage = z.infer<typeof IpcMessage>
