import { useQueryClient } from '@tanstack/react-query'
import { AppError } from '#shared/appError.ts'
import { copyFile, makeFolder, moveFile, removeFile } from '#shared/contract/files.ts'
import { createTerminal } from '#shared/contract/terminals.ts'
import type { SandboxId } from '#shared/ids.ts'
import { useAgent } from '../../api/AgentProvider.tsx'
import { notify } from '../../ui/toast.tsx'
import { saveText } from './editor/fileAccess.ts'
import { getBasename, getDirname, joinPath } from './paths.ts'
import { refetchFiles } from './useFolders.ts'

export type FileActions = ReturnType<typeof useFileActions>

/**
 * Returns actions on files. Actions of a dialog reject, so that the dialog shows the error; all others report their
 * errors.
 */
export function useFileActions(id: SandboxId) {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const reread = () => refetchFiles(queryClient, id)

  const move = async (from: string, to: string): Promise<void> => {
    if (from === to) return
    await agent(moveFile, { id, from, to })
    await reread()
  }
  const telling = async (title: string, work: () => Promise<unknown>): Promise<boolean> => {
    try {
      await work()
      return true
    } catch (error) {
      notify.failed(error, { title })
      return false
    }
  }

  return {
    newFile: async (path: string) => {
      await saveText(agent, { id, path, text: '', ifVersion: undefined, isNew: true })
      await reread()
    },
    newFolder: async (path: string) => {
      const { created } = await agent(makeFolder, { id, path })
      await reread()
      if (!created) throw new AppError('file/exists', `${path} already exists.`)
    },
    makeFolders: (paths: readonly string[]) =>
      telling('Could not create the folders', async () => {
        for (const path of paths) await agent(makeFolder, { id, path })
        await reread()
      }),
    rename: (path: string, name: string) => move(path, joinPath(getDirname(path), name)),
    moveInto: (path: string, folder: string) =>
      telling(`Could not move ${getBasename(path)}`, async () => {
        const before = getDirname(path)
        await move(path, joinPath(folder, getBasename(path)))
        notify.done(`Moved ${getBasename(path)} to ${folder}`, {
          action: {
            label: 'Undo',
            run: () =>
              void telling(`Could not move ${getBasename(path)} back`, () =>
                move(joinPath(folder, getBasename(path)), joinPath(before, getBasename(path))),
              ),
          },
        })
      }),
    copyTo: (from: string, to: string) =>
      telling(`Could not copy ${getBasename(from)}`, async () => {
        await agent(copyFile, { id, from, to })
        await reread()
      }),
    remove: async (path: string) => {
      await agent(removeFile, { id, path, recursive: true })
      await reread()
    },
    openTerminal: (cwd: string) =>
      telling('Could not open a terminal', () => agent(createTerminal, { id, command: 'bash', cwd })),
    reread,
  }
}
