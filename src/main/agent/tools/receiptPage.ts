import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '#shared/appError.ts'

/**
 * Creates the loader of the page that hosts show beside a call. The page is one document with inline styles and
 * scripts, because such pages load nothing. It is read once from the built interface.
 * @throws AppError `request/not-found` if the interface is not built
 */
export function createReceiptPage(pagesFolder: string): () => Promise<string> {
  const folder = join(pagesFolder, 'assets')
  let page: Promise<string> | undefined
  const read = async (name: RegExp): Promise<string> => {
    const file = (await readdir(folder).catch(() => [])).find((it) => name.test(it))
    if (file === undefined) throw new AppError('request/not-found', 'The interface is not built. Run `npm run build`.')
    return readFile(join(folder, file), 'utf8')
  }
  const make = async (): Promise<string> => {
    const [style, script] = await Promise.all([read(/^receipt-[\w-]{8}\.css$/), read(/^receipt-[\w-]{8}\.js$/)])
    return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Steward</title>
<style>${style}</style>
</head>
<body>
<script type="module">${script.replaceAll('</script', '<\\/script')}</script>
</body>
</html>
`
  }
  return () => {
    page ??= make().catch((error: unknown) => {
      page = undefined
      throw error
    })
    return page
  }
}
