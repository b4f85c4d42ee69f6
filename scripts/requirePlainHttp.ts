import type { Plugin } from 'vite'

const imported = /^import \{([^}]*)\} from "node:http";$/gm

/**
 * Makes the built programs load `node:http` with `require`. An `import` of a Node module evaluates all of its exports,
 * and the getter for `WebSocket` loads an entire HTTP client, which costs 30 ms and several megabytes.
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
