import { AppError } from '#shared/appError.ts'
import { copyFile, makeFolder, moveFile, removeFile, statFile } from '#shared/contract/files.ts'
import { createEndpoint, type Endpoint } from '../base/endpoint.ts'
import type { HostCall } from '../host/hostCalls.ts'
import type { SandboxRegistry } from '../sandboxes/sandboxRegistry.ts'

/** A folder may have to be copied to another file system. */
const treeDeadlineMs = 30 * 60_000

export function createTreeRoutes({
  sandboxes,
  call,
}: {
  sandboxes: Pick<SandboxRegistry, 'running'>
  call: HostCall
}): Endpoint[] {
  return [
    createEndpoint(statFile, async ({ params, query: { path, follow } }, { caller, signal }) => {
      const { id: sandboxId } = await sandboxes.running(caller, params.id)
      const { result } = await call('file.stat', { sandboxId, path }, { signal })
      if (!follow || result.target_type !== 'file') return result
      return (await call('file.readRange', { sandboxId, path, offset: 0, length: 0 }, { signal })).result
    }),
    createEndpoint(makeFolder, async ({ params, body: { path } }, { caller }) => {
      const { id: sandboxId } = await sandboxes.running(caller, params.id)
      return { path, ...(await call('file.makeFolder', { sandboxId, path })).result }
    }),
    createEndpoint(moveFile, async ({ params, body }, { caller }) => {
      const { id: sandboxId } = await sandboxes.running(caller, params.id)
      assertNotRoot(body.from)
      await call('file.move', { sandboxId, ...body }, { deadlineMs: treeDeadlineMs })
      return { success: true, path: body.to }
    }),
    createEndpoint(copyFile, async ({ params, body }, { caller }) => {
      const { id: sandboxId } = await sandboxes.running(caller, params.id)
      assertNotRoot(body.from)
      await call('file.copy', { sandboxId, ...body }, { deadlineMs: treeDeadlineMs })
      return { success: true, path: body.to }
    }),
    createEndpoint(removeFile, async ({ params, query: { path, recursive } }, { caller }) => {
      const { id: sandboxId } = await sandboxes.running(caller, params.id)
      assertNotRoot(path)
      await call('file.remove', { sandboxId, path, recursive }, { deadlineMs: treeDeadlineMs })
      return { success: true, message: `${path} was removed.` }
    }),
  ]
}

function assertNotRoot(path: string): void {
  if (/^\/+$/.test(path))
    throw new AppError('file/path', 'This is the root of the sandbox. Use the path of a file or folder in it.')
}
