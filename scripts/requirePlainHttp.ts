import type { Plugin } from 'vite'

const imported = /^import \{([^}]*)\} from "node:http";$/gm

/**
 * Makes the built programs load `node:http` as CommonJS does. An `import` of a Node module evaluates all of its
 * exports, and the getter for `WebSocket` loads a whole HTTP client: 30 ms and several megabytes.
 */
export function requirePlainHttp(): Plugin {
  return {
    name: 'plain-http',
    renderChunk: (code) =>
      code.replaceAll(imported, (_, names: string) => {
        return `const {${names.replaceAll(' as ', ': ')}} = process.getBuiltinModule("node:http");`
      }),
  }
}
