import { createSandboxFolders, type WarmSandboxName } from '#host/runtimes/bubblewrap/sandboxFolder.ts'

/** Lists warm sandboxes that have recorded their run; they are ready a moment later. */
export async function listReadyWarmSandboxes(folder: string): Promise<WarmSandboxName[]> {
  const folders = createSandboxFolders(folder)
  const names = await folders.listWarmSandboxes()
  const runs = await Promise.all(names.map((name) => folders.readRun(name)))
  return names.filter((_, index) => runs[index] !== undefined)
}
