import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '#shared/appError.ts'

export type SheetAsset = { bytes: Buffer; type: string }

/** The names by which pages ask for what the build names by its content. */
const named: Readonly<Record<string, { file: RegExp; type: string }>> = {
  'sheet.css': { file: /^sheet-[\w-]{8}\.css$/, type: 'text/css; charset=utf-8' },
  'sheet.js': { file: /^sheet-[\w-]{8}\.js$/, type: 'text/javascript; charset=utf-8' },
}
const font = /^(inter|jetbrains-mono)-[\w-]+\.woff2$/

/**
 * Loads assets of the wallet's pages from the built renderer: one style, one script and the style's fonts. Undefined
 * for other names.
 *
 * @throws AppError `request/not-found` if the renderer is not built
 */
export function createSheetAssets(pagesFolder: string): (name: string) => Promise<SheetAsset> | undefined {
  const folder = join(pagesFolder, 'assets')
  const read = async (fits: (file: string) => boolean, type: string): Promise<SheetAsset> => {
    const files = await readdir(folder).catch(() => [])
    const file = files.find(fits)
    if (file === undefined) throw new AppError('request/not-found', 'The interface is not built: run `npm run build`.')
    return { bytes: await readFile(join(folder, file)), type }
  }
  return (name) => {
    const asset = named[name]
    if (asset) return read((file) => asset.file.test(file), asset.type)
    // Serves only existing names: user input is never part of a path.
    return font.test(name) ? read((file) => file === name, 'font/woff2') : undefined
  }
}
