import type { Plugin } from 'vite'

const imported = /^import \{([^}]*)\} from "node:http";$/gm

/**
 * Lets the built programs take `node:http` as CommonJS does. An `import` asks one of Node's modules for all that it has,
 * and for its `WebSocket` this one loads a whole HTTP client: 30 ms and several megabytes for what nobody here uses.
 */
export function plainHttp(): Plugin {
  return {
    name: 'plain-http',
    renderChunk: (code) =>
      code.replaceAll(imported, (_, names: string) => {
        return `const {${names.replaceAll(' as ', ': ')}} = process.getBuiltinModule("node:http");`
      }),
  }
}
