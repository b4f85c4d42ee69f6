import type { IBuffer, ILink, ILinkProvider } from '@xterm/xterm'
import { findFiles } from './findFiles.ts'
import { findPorts, type LinkTarget } from './parseLinkTarget.ts'
import type { SandboxLinks, TerminalLinks } from './terminalLinks.ts'

type Options = {
  buffer: () => IBuffer
  folder: () => string | undefined
  find: SandboxLinks['find']
  link: TerminalLinks['link']
}

/** Maximum number of rows of a wrapped line that are searched. */
const maxRows = 16

/** Provides links for ports and existing files in the line under the pointer. Rows are 1-based. */
export function createTargetLinkProvider({ buffer, folder, find, link }: Options): ILinkProvider {
  /** Omits files that cannot be read. */
  async function linksAt(row: number): Promise<ILink[]> {
    const { text, cells } = readWholeLine(buffer(), row - 1)
    const linked = (start: number, end: number, target: LinkTarget): ILink[] => {
      const [from, to] = [cells[start], cells[end - 1]]
      return from && to ? [link(text.slice(start, end), { start: from, end: to }, target)] : []
    }
    const ports = findPorts(text).flatMap(({ start, end, target }) => linked(start, end, target))
    const files = findFiles(text).map(async ({ start, end, path, line, column }) => {
      const target = await find(path, folder()).catch(() => undefined)
      const place = { line, ...(column !== undefined && { column }) }
      return target ? linked(start, end, { kind: 'file', path: target.path, ...place }) : []
    })
    return [...ports, ...(await Promise.all(files)).flat()]
  }
  return {
    provideLinks(row, callback) {
      void linksAt(row).then(callback)
    },
  }
}

/** Joins the wrapped rows of a line, with the cell of each character. */
function readWholeLine(buffer: IBuffer, row: number): { text: string; cells: { x: number; y: number }[] } {
  let first = row
  while (row - first < maxRows && buffer.getLine(first)?.isWrapped) first -= 1
  const cells: { x: number; y: number }[] = []
  let text = ''
  for (let y = first; y < first + maxRows; y++) {
    const line = buffer.getLine(y)
    if (!line || (y > first && !line.isWrapped)) break
    for (let x = 0; x < line.length; x++) {
      const cell = line.getCell(x)
      if (!cell || cell.getWidth() === 0) continue
      const characters = cell.getChars() || ' '
      text += characters
      for (let at = 0; at < characters.length; at++) cells.push({ x: x + 1, y: y + 1 })
    }
  }
  return { text, cells }
}
