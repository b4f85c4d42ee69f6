/** Coverage of a documented command: a test, `npm run test:all`, or the reason for having no test. */
export type Trial = { test: string } | { all: string } | { reason: string }

const programs = 'test/integration/documentedCommands.test.ts'

/**
 * Every script in package.json and every command in the `sh` blocks of the documents, as written there without
 * comments. `all` is the command that `npm run test:all` runs, shortened if the documented one takes long.
 */
export const documentedCommands: Readonly<Record<string, Trial>> = {
  './setup': { test: 'test/integration/setup.test.ts' },
  './setup --test': { test: 'test/integration/setup.test.ts' },
  'npm ci': { reason: 'Downloads every package; `.ci/run` runs it through ./setup.' },

  'npm start': { test: programs },
  'npm start -- --browser': { test: programs },
  'npm start -- --data DIR': { test: programs },
  'npm start -- doctor': { test: programs },
  'npm start -- image add debian': {
    reason:
      'Downloads packages of the distribution; test/integration/imageCommand.test.ts adds an image without a network.',
  },
  'npm start -- stop': { test: programs },
  'npm start -- backup DIR': { test: programs },
  'npm start -- restore DIR': { test: programs },

  'npm run service': { test: programs },
  'npm run service -- --listen 127.0.0.1:8080 --data DIR': {
    reason: 'The port may be in use; the test of `npm run service` uses a free one.',
  },
  'npm run service -- --listen 0.0.0.0:443 --data /var/lib/steward': {
    reason: 'Opens a port to the whole network; test/integration/commandLine.test.ts does the same on loopback.',
  },
  'npm run service -- database copy --data DIR --to-url-file FILE': {
    test: 'test/integration/servicePostgres.test.ts',
  },
  'npm run mcp': { test: programs },
  'npm run dev': { test: 'test/integration/devCommand.test.ts' },

  'npm run build': { all: 'npm run build' },
  'npm run check': { reason: '`npm test` runs the same steps from scripts/steps.ts.' },
  'npm run format': { reason: 'Rewrites files; `npm test` checks that nothing would change.' },
  'npm test': { all: 'npm test' },
  'npm test -- --quick': { all: 'npm test -- --quick' },
  'npm test -- --project unit src/shared': { all: 'npm test -- --project unit src/shared' },
  'npm run test:all': { reason: 'Runs all commands of this list.' },
  'npm run fuzz': { all: 'npm run fuzz -- --seconds 20' },
  'npm run simulate': { all: 'npm run simulate -- --minutes 1' },
  'npm run simulate -- --minutes 10': { all: 'npm run simulate -- --minutes 1' },
  'npm run simulate -- --seed 4711': { all: 'npm run simulate -- --seed 4711' },
  'npm run bench': { all: 'npm run bench -- --quick' },
  'npm run bench -- soak': { all: 'npm run bench -- soak 2' },

  'npm run measure': { all: 'npm run measure' },

  'npm run package': { reason: 'Installers require their platform and its signing tools.' },
  'npm run package -- --dir': { all: 'npm run package -- --dir --output out/test-package' },
  'npm run package -- --update-feed https://updates.example.com/steward': {
    reason: 'Like `npm run package`; test/integration/packaging.test.ts reads the address from the package.',
  },
  'npm run package -- --electron DIR': {
    reason: 'Like `npm run package`; test/integration/packaging.test.ts packages with a fake Electron.',
  },
}

/** Formats the name of a script in package.json as users type it. */
export function toScriptCommand(name: string): string {
  return name === 'start' || name === 'test' ? `npm ${name}` : `npm run ${name}`
}

/** Finds the commands of npm, npx, node and ./setup in the `sh` blocks of a document. */
export function findCommands(markdown: string): string[] {
  const blocks = [...markdown.matchAll(/^ *```sh\n(.*?)^ *```/gms)].map(([, block = '']) => block)
  return blocks
    .flatMap((block) => block.replaceAll(/\\\n\s*/g, '').split('\n'))
    .flatMap((line) => line.replace(/(^|\s)#.*$/, '').split('&&'))
    .map((command) => command.replace(/^(\s*[A-Z_]+=\S+)+/, '').trim())
    .filter((command) => /^(npm|npx|node|\.\/setup)\b/.test(command))
}
