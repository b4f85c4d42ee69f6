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

type Graph = { getModuleInfo(moduleId: string): { importedIds: readonly string[] } | null }

/**
 * One file of our own modules that all of `needing` import, and of what these need of packages: each file more costs
 * the browser more than its bytes do. A part with a higher priority takes its modules first. All icons are of the part
 * with the highest: each part has some, and none shall be fetched for the icons that it has in common with another.
 */
export function oneFile(name: string, needing: readonly string[], priority: number) {
  let members: readonly ReadonlySet<string>[] | undefined
  return {
    debugName: name,
    priority,
    name(moduleId: string, graph: Graph): string | null {
      members ??= needing.map((it) => ownModules(it, graph))
      return isIcon.test(moduleId) || members.every((it) => it.has(moduleId)) ? name : null
    },
  }
}

const isIcon = /lucide-react[\\/].*[\\/]icons[\\/]/

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
