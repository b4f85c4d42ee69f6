import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '#shared/appError.ts'

export type SecurePromptAsset = { bytes: Buffer; type: string }

/** Stable asset names for pages, mapped to built files, whose names contain a content hash. */
const assetFiles: Readonly<Record<string, { file: RegExp; type: string }>> = {
  'prompt.css': { file: /^prompt-[\w-]{8}\.css$/, type: 'text/css; charset=utf-8' },
  'prompt.js': { file: /^prompt-[\w-]{8}\.js$/, type: 'text/javascript; charset=utf-8' },
}
const font = /^(inter|jetbrains-mono)-[\w-]+\.woff2$/

/**
 * Loads assets of the wallet's pages from the built renderer: one style, one script and the fonts. The result returns
 * undefined for other names.
 * @throws AppError `request/not-found` if the renderer is not built
 */
export function createSecurePromptAssets(
  pagesFolder: string,
): (name: string) => Promise<SecurePromptAsset> | undefined {
  const folder = join(pagesFolder, 'assets')
  const read = async (fits: (file: string) => boolean, type: string): Promise<SecurePromptAsset> => {
    const files = await readdir(folder).catch(() => [])
    const file = files.find(fits)
    if (file === undefined) throw new AppError('request/not-found', 'The interface is not built. Run `npm run build`.')
    return { bytes: await readFile(join(folder, file)), type }
  }
  return (name) => {
    const asset = assetFiles[name]
    if (asset) return read((file) => asset.file.test(file), asset.type)
    // Serves existing file names only, so that input is never part of a path.
    return font.test(name) ? read((file) => file === name, 'font/woff2') : undefined
  }
}
