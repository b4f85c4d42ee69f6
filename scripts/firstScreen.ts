import { type HtmlTagDescriptor, normalizePath, type Plugin, type Rollup } from 'vite'

/**
 * Names in `index.html` every file that `module`, the one that draws the first screen, needs: so the browser fetches
 * them at once and together, not each after the one that asks for it.
 */
export function firstScreen(module: string): Plugin {
  return {
    name: 'first-screen',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle = {}, filename }) {
        if (!filename.endsWith('index.html')) return
        const chunks = Object.values(bundle).flatMap((it) => (it.type === 'chunk' ? [it] : []))
        const needed = new Set<string>()
        const need = (fileName: string): void => {
          if (needed.has(fileName)) return
          needed.add(fileName)
          for (const it of chunks.find((chunk) => chunk.fileName === fileName)?.imports ?? []) need(it)
        }
        const first = chunks.find(({ moduleIds }) => moduleIds.includes(normalizePath(module)))
        if (!first) throw new Error(`The build has no file with ${module}.`)
        need(first.fileName)
        const files = [...needed].flatMap((fileName) => [fileName, ...stylesOf(chunks, fileName)])
        return files.filter((fileName) => !html.includes(fileName)).map(tagOf)
      },
    },
  }
}

function stylesOf(chunks: readonly Rollup.OutputChunk[], fileName: string): string[] {
  return [...(chunks.find((it) => it.fileName === fileName)?.viteMetadata?.importedCss ?? [])]
}

function tagOf(fileName: string): HtmlTagDescriptor {
  const rel = fileName.endsWith('.css') ? 'stylesheet' : 'modulepreload'
  return { tag: 'link', attrs: { rel, crossorigin: true, href: `./${fileName}` }, injectTo: 'head' }
}

type Pages = { window: string; link: string }
type Graph = { getModuleInfo(moduleId: string): { importedIds: readonly string[] } | null }

/**
 * One file of what the window needs for its first screen, and one of what the other page needs as well: each file more
 * costs the browser more than its bytes do. What they need of packages follows them.
 */
export function firstScreenChunk(pages: Pages): (moduleId: string, graph: Graph) => string | null {
  let known: { window: ReadonlySet<string>; link: ReadonlySet<string> } | undefined
  return (moduleId, graph) => {
    known ??= { window: ownModules(pages.window, graph), link: ownModules(pages.link, graph) }
    if (!known.window.has(moduleId)) return null
    return known.link.has(moduleId) ? 'base' : 'window'
  }
}

function ownModules(first: string, graph: Graph): ReadonlySet<string> {
  const found = new Set<string>()
  const visit = (moduleId: string): void => {
    if (found.has(moduleId) || moduleId.includes('node_modules')) return
    found.add(moduleId)
    for (const it of graph.getModuleInfo(moduleId)?.importedIds ?? []) visit(it)
  }
  visit(normalizePath(first))
  return found
}
