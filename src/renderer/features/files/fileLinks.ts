import { downloadFile, downloadFolder } from '#shared/contract/files.ts'
import { buildRequest } from '#shared/contract/route.ts'
import type { SandboxId } from '#shared/ids.ts'
import { signWindowUrl } from '../../api/windowLink.ts'
import { getBasename } from './paths.ts'

export type Downloaded = { path: string; isFolder: boolean }

export function downloadUrl(id: SandboxId, { path, isFolder }: Downloaded): string {
  return signWindowUrl(buildRequest(isFolder ? downloadFolder : downloadFile, { id, path }).path)
}

/** Starts a download by the browser, which can show progress, pause and resume. */
export function startDownload(id: SandboxId, what: Downloaded): void {
  const link = document.createElement('a')
  link.href = downloadUrl(id, what)
  link.download = downloadName(what)
  link.click()
}

export function downloadName({ path, isFolder }: Downloaded): string {
  return isFolder ? `${getBasename(path)}.tar.gz` : getBasename(path)
}
