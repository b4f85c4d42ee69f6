import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Shell in tmux on a separate tmux server, driven as scripts do. */
export type TmuxScreen = { type(line: string): Promise<void>; read(): Promise<string>; close(): Promise<void> }

export async function openTmuxScreen(folder: string): Promise<TmuxScreen> {
  const server = ['-S', join(folder, 'tmux.sock'), '-f', '/dev/null']
  const tmux = async (...parts: string[]) => (await run('tmux', [...server, ...parts])).stdout
  await tmux('new-session', '-d', '-x', '80', '-y', '24', 'bash --norc')
  return {
    type: async (line) => void (await tmux('send-keys', line, 'Enter')),
    read: () => tmux('capture-pane', '-p'),
    close: async () => void (await tmux('kill-server')),
  }
}
