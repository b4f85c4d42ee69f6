import { type HtmlTagDescriptor, normalizePath, type Plugin, type Rollup } from 'vite'

/**
 * Adds preload tags to `index.html` for every file that `module`, the entry of the first screen, imports. The browser
 * then fetches them in parallel.
 */
export function preloadFirstScreen(module: string): Plugin {
  return {
    name: 'first-screen',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle = {}, filename }) {
        if (!filename.endsWith('index.html')) return
        const chunks = Object.values(bundle).flatMap((value) => (value.type === 'chunk' ? [value] : []))
        const needed = new Set<string>()
        const addChunk = (fileName: string): void => {
          if (needed.has(fileName)) return
          needed.add(fileName)
          for (const it of chunks.find((chunk) => chunk.fileName === fileName)?.imports ?? []) addChunk(it)
        }
        const first = chunks.find(({ moduleIds }) => moduleIds.includes(normalizePath(module)))
        if (!first) throw new Error(`No file of the build contains ${module}.`)
        addChunk(first.fileName)
        const files = [...needed].flatMap((fileName) => [fileName, ...findStyles(chunks, fileName)])
        return files.filter((fileName) => !html.includes(fileName)).map(createTag)
      },
    },
  }
}

function findStyles(chunks: readonly Rollup.OutputChunk[], fileName: string): string[] {
  return [...(chunks.find((it) => it.fileName === fileName)?.viteMetadata?.importedCss ?? [])]
}

function createTag(fileName: string): HtmlTagDescriptor {
  const rel = fileName.endsWith('.css') ? 'stylesheet' : 'modulepreload'
  return { tag: 'link', attrs: { rel, crossorigin: true, href: `./${fileName}` }, injectTo: 'head' }
}

type Graph = { getModuleInfo(moduleId: string): { importedIds: readonly string[] } | null }

/**
 * Groups the modules that all of `needing` import, including their packages, into one file, because each additional
 * file costs the browser more than its bytes. A group with a higher priority claims its modules first. Icons belong to
 * the group with the highest priority, because every group uses some.
 */
export function createChunkGroup(name: string, needing: readonly string[], priority: number) {
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
  const modules = new Set<string>()
  const visit = (moduleId: string): void => {
    if (modules.has(moduleId) || moduleId.includes('node_modules')) return
    modules.add(moduleId)
    for (const it of graph.getModuleInfo(moduleId)?.importedIds ?? []) visit(it)
  }
  visit(normalizePath(first))
  return modules
}
