import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { beforeAll, describe, expect, test } from 'vitest'
import { checkSteps } from '#scripts/steps.ts'
import { createTestProject, projectFolder } from '../support/fixtures/testProject.ts'
import { runTool } from '../support/processes/runTool.ts'

/** File to import from, for each path that must not be imported. */
const targets = {
  'src/shared/target.ts': 'export const target = 1\n',
  'src/main/platform/target.ts': 'export const target = 1\n',
  'src/main/shell/target.ts': 'export const target = 1\n',
  'src/main/agent/approvals/intentStateRepository.ts': 'export const target = 1\n',
  'src/main/agent/approvals/intentLifecycle.ts': imports('./intentStateRepository.ts'),
  'src/main/agent/api/target.ts': 'export const target = 1\nexport type Target = number\n',
  'src/main/agent/compose/oneParts.ts': imports('../approvals/intentLifecycle.ts', '../api/target.ts'),
  'src/main/config/target.ts': 'export const target = 1\n',
  'src/main/host/one/target.ts': 'export const target = 1\n',
  'src/main/host/runtimes/inside/target.ts': 'export const target = 1\n',
  'src/main/host/runtimes/bubblewrap/target.ts': imports('../inside/target.ts'),
  'src/main/host/runtimes/docker/target.ts': imports('../inside/target.ts'),
  'src/main/host/terminals/emulator/target.ts': 'export const target = 1\n',
  'src/main/host/terminals/worker/target.ts': imports('../emulator/target.ts'),
  'src/main/host/terminals/session/target.ts': imports('../worker/target.ts'),
  'src/main/service/one/target.ts': 'export const target = 1\nexport type Target = number\n',
  'src/renderer/features/one/target.ts': 'export const target = 1\n',
}

/** Valid code that must not be reported. */
const allowed = {
  'src/main/service/compose/compose.ts': imports(
    '../one/target.ts',
    '../two/typed.ts',
    '../two/typedHttp.ts',
    '../../platform/target.ts',
    '../../platform/http/room.ts',
  ),
  'src/main/service/two/typed.ts':
    "import type { Target } from '../one/target.ts'\nexport type Typed = Target\nexport const target = 1\n",
  'src/main/host/compose.ts': imports(
    './one/target.ts',
    './runtimes/bubblewrap/target.ts',
    './runtimes/docker/target.ts',
    './terminals/session/target.ts',
    '../../shared/target.ts',
  ),
  'src/main/shell/window.ts': imports('electron', './target.ts'),
  'src/main/entries/main.ts': imports('electron', '../shell/target.ts', '../config/target.ts'),
  'src/main/platform/http/room.ts': imports('find-my-way', 'node:http'),
  'src/main/service/two/typedHttp.ts':
    "import type { IncomingMessage } from 'node:http'\nexport type Request = IncomingMessage\nexport const target = 1\n",
  'src/main/storage/postgres/pool.ts': imports('pg', '../sqlite/database.ts'),
  'src/main/storage/sqlite/database.ts': imports('better-sqlite3', '../../platform/target.ts'),
  'src/shared/schema.ts': imports('zod', './target.ts'),
  'src/renderer/app/main.ts': imports('../features/one/target.ts', '../../shared/target.ts'),
}

const planted: Record<string, { path: string; text: string }> = {
  'shared-is-a-leaf': { path: 'src/shared/planted.ts', text: imports('../main/platform/target.ts') },
  'renderer-talks-over-the-wire': {
    path: 'src/renderer/app/planted.ts',
    text: imports('../../main/platform/target.ts'),
  },
  'preload-knows-shared-only': { path: 'src/preload/planted.ts', text: imports('../main/platform/target.ts') },
  'product-of-main-knows-no-view': {
    path: 'src/main/platform/view.ts',
    text: imports('../../renderer/features/one/target.ts'),
  },
  'main-has-rooms': { path: 'src/main/roomless.ts', text: imports('./platform/target.ts') },
  'halves-below-shell': { path: 'src/main/agent/one/above.ts', text: imports('../../shell/target.ts') },
  'halves-meet-on-the-wire': { path: 'src/main/agent/one/across.ts', text: imports('../../service/one/target.ts') },
  'foundations-know-no-half': { path: 'src/main/platform/planted.ts', text: imports('../host/one/target.ts') },
  'service-knows-no-config': { path: 'src/main/service/host/launch.ts', text: imports('../../config/target.ts') },
  'config-knows-types-of-the-service-only': {
    path: 'src/main/config/options.ts',
    text: imports('../service/one/target.ts'),
  },
  'foundations-know-no-config': { path: 'src/main/platform/environment.ts', text: imports('../config/target.ts') },
  'slices-meet-in-compose': { path: 'src/main/service/two/planted.ts', text: imports('../one/target.ts') },
  'slices-know-no-local-api': {
    path: 'src/main/agent/one/served.ts',
    text: "import type { Target } from '../api/target.ts'\nexport type Served = Target\nexport const target = 1\n",
  },
  'slices-know-no-composition': { path: 'src/main/agent/one/composed.ts', text: imports('../compose/oneParts.ts') },
  'intents-have-one-writer': {
    path: 'src/main/agent/approvals/planted.ts',
    text: imports('./intentStateRepository.ts'),
  },
  'bubblewrap-knows-no-docker': {
    path: 'src/main/host/runtimes/bubblewrap/planted.ts',
    text: imports('../docker/target.ts'),
  },
  'docker-knows-no-bubblewrap': {
    path: 'src/main/host/runtimes/docker/planted.ts',
    text: imports('../bubblewrap/target.ts'),
  },
  'inside-knows-no-runtime': {
    path: 'src/main/host/runtimes/inside/planted.ts',
    text: imports('../docker/target.ts'),
  },
  'emulator-knows-no-worker': {
    path: 'src/main/host/terminals/emulator/planted.ts',
    text: imports('../worker/target.ts'),
  },
  'worker-knows-no-session': {
    path: 'src/main/host/terminals/worker/planted.ts',
    text: imports('../session/target.ts'),
  },
  'features-meet-in-app': { path: 'src/renderer/features/two/planted.ts', text: imports('../one/target.ts') },
  'ui-knows-no-feature': { path: 'src/renderer/ui/planted.ts', text: imports('../features/one/target.ts') },
  'electron-has-one-owner': { path: 'src/main/agent/one/electron.ts', text: imports('electron') },
  'keytar-has-one-owner': { path: 'src/main/agent/one/keychain.ts', text: imports('keytar') },
  'lydellnode-pty-has-one-owner': { path: 'src/main/service/one/pty.ts', text: imports('@lydell/node-pty') },
  'pg-has-one-owner': { path: 'src/main/storage/migrations/planted.ts', text: imports('pg') },
  'better-sqlite3-has-one-owner': { path: 'src/main/storage/migrations/sql.ts', text: imports('better-sqlite3') },
  'http-has-one-room': {
    path: 'src/main/agent/one/server.ts',
    text: "import { createServer } from 'node:http'\nexport const target = createServer\n",
  },
  'find-my-way-has-one-owner': { path: 'src/main/agent/one/router.ts', text: imports('find-my-way') },
  'undici-has-one-owner': { path: 'src/main/service/one/http.ts', text: imports('undici') },
  'viem-has-one-owner': { path: 'src/main/host/one/chain.ts', text: imports('viem') },
  'ox-has-one-owner': { path: 'src/main/host/one/typedData.ts', text: imports('ox') },
  'no-cycles': { path: 'src/main/platform/egg.ts', text: imports('./hen.ts') },
  'no-tests-in-product': { path: 'src/main/platform/product.ts', text: imports('./some.test.ts') },
  'no-orphans': { path: 'src/main/platform/lonely.ts', text: 'export const lonely = 1\n' },
}

const companions = {
  'src/main/platform/hen.ts': imports('./egg.ts'),
  'src/main/platform/some.test.ts': 'export const target = 1\n',
}

describe('import rules', () => {
  const wrong = Object.fromEntries(Object.values(planted).map(({ path, text }) => [path, text]))
  const folder = createTestProject({ ...targets, ...allowed, ...companions, ...wrong })
  let reported: { rule: string; from: string }[] = []

  beforeAll(async () => {
    reported = await violationsIn(folder)
  })

  test('fail the check with the arguments of `npm run check`', async () => {
    const step = checkSteps.find(({ command }) => command === 'depcruise')
    const { exitCode, stdout } = await runTool(folder, 'depcruise', step?.parts ?? [])
    expect({ exitCode, stdout }).toEqual({
      exitCode: ruleNames().length,
      stdout: expect.stringContaining('error halves-meet-on-the-wire: src/main/agent/one/across.ts'),
    })
  })

  test.each(ruleNames())('%s is reported', (rule) => {
    const path = planted[rule]?.path ?? 'no violation is planted for this rule'
    expect(reported).toContainEqual({ rule, from: path })
  })

  test('accept compliant files', async () => {
    expect(await violationsIn(createTestProject({ ...targets, ...allowed }))).toEqual([])
  })
})

describe('types in src/shared', () => {
  test.each([
    ['the window', 'export const width = window.innerWidth\n', "Cannot find name 'window'"],
    ['Node', "import { readFileSync } from 'node:fs'\nexport const read = readFileSync\n", "'node:fs'"],
    ['enums', 'export enum Color { red }\n', 'erasableSyntaxOnly'],
  ])('do not include %s', async (_, text, message) => {
    const folder = createTestProject({ 'src/shared/planted.ts': text })
    const { exitCode, stdout } = await runTool(folder, 'tsc', ['-p', 'tsconfig.shared.json'])
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: expect.stringContaining(message) })
    expect(stdout).toContain('src/shared/planted.ts')
  })
})

describe('lint', () => {
  const wrong: Record<string, string> = {
    'lint/style/noDefaultExport': 'export default 1\n',
    'lint/performance/noBarrelFile': "export { target } from '../shared/target.ts'\n",
    'lint/performance/noReExportAll': "export * from '../shared/target.ts'\n",
    'lint/style/noEnum': 'export enum Color {\n  red = 1,\n}\n',
    'lint/suspicious/noExplicitAny': 'export const anything = (value: any): unknown => value\n',
    'lint/style/noNonNullAssertion': 'export const first = (list: string[]): string => list[0]!\n',
    'lint/nursery/noFloatingPromises':
      'async function work(): Promise<void> {}\nexport function start(): void {\n  work()\n}\n',
    'lint/style/noProcessEnv': 'export const home = process.env.HOME\n',
    'lint/suspicious/noConsole': "console.log('hello')\n",
    'lint/style/useErrorCause':
      "export function wrap(work: () => void): void {\n  try {\n    work()\n  } catch (failure) {\n    throw new Error('failed')\n  }\n}\n",
    'lint/style/useThrowOnlyError': "export function fail(): never {\n  throw 'failed'\n}\n",
    'lint/style/useImportType':
      "import { Target } from '../shared/types.ts'\nexport const one = (value: Target): Target => value\n",
  }
  let violations: { category: string; path: string; severity: string }[] = []
  const buildPath = (category: string) => `src/main/${category.replaceAll('/', '-')}.ts`

  beforeAll(async () => {
    const files = Object.fromEntries(Object.entries(wrong).map(([category, text]) => [buildPath(category), text]))
    const folder = createTestProject({
      'src/shared/target.ts': 'export const target = 1\n',
      'src/shared/types.ts': 'export type Target = number\n',
      ...files,
    })
    const { stdout } = await runTool(folder, 'biome', ['lint', '--reporter=json', '--max-diagnostics=none', 'src'])
    const report = JSON.parse(stdout) as {
      diagnostics: { category: string; severity: string; location: { path: string } }[]
    }
    violations = report.diagnostics.map(({ category, severity, location }) => ({
      category,
      severity,
      path: location.path,
    }))
  })

  test.each(Object.keys(wrong))('%s is an error', (category) => {
    expect(violations).toContainEqual({ category, severity: 'error', path: buildPath(category) })
  })
})

describe('input readers', () => {
  const script = 'scripts/inputReaders.ts'
  const platform = {
    'src/main/platform/reader.ts': 'export const read = (text: string): unknown => JSON.parse(text)\n',
  }
  const step = checkSteps.find(({ name }) => name === 'input readers')
  /** Uses a separate allowlist, because the one of the project names files that do not exist here. */
  const checked = async (files: Record<string, string>, allowed = '') => {
    const source = readFileSync(`${projectFolder}${script}`, 'utf8')
    const text = source.replace(/(allowed: Readonly<Record<string, string>> = \{).*?\n\}\n/s, `$1${allowed}}\n`)
    const folder = createTestProject({ [script]: text, ...platform, ...files })
    const { exitCode, stdout } = await runTool(folder, step?.command ?? '', step?.parts ?? [])
    return { exitCode, stdout }
  }

  test.each([
    ['JSON.parse', 'export const read = (text: string): unknown => JSON.parse(text)\n', 'parses JSON'],
    ['text() of an answer', 'export const read = (it: Response): Promise<string> => it.text()\n', 'calls `text()`'],
    ['json() of an answer', 'export const read = (it: Response): Promise<unknown> => it.json()\n', 'calls `json()`'],
    ['a stream consumer', "export { text } from 'node:stream/consumers'\n", 'collects a stream'],
    [
      'a loop over a stream',
      'export async function read(stream: AsyncIterable<Buffer>): Promise<Buffer[]> {\n  const all: Buffer[] = []\n  for await (const chunk of stream) all.push(chunk)\n  return all\n}\n',
      'collects a stream',
    ],
    [
      'a listener',
      "export function read(socket: Socket): void {\n  let text = ''\n  socket.on('data', (chunk) => {\n    text += chunk\n  })\n}\n",
      'collects a stream',
    ],
  ])('%s outside of the platform fails the check', async (_, text, problem) => {
    const path = 'src/main/agent/one/reader.ts'
    const { exitCode, stdout } = await checked({ [path]: text })
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: expect.stringContaining(`${path}:`) })
    expect(stdout).toContain(problem)
  })

  test('pass in platform code or tests or the allow-list, and unused entries fail', async () => {
    const files = {
      'src/main/agent/one/oneRepository.ts': 'export const row = (text: string): unknown => JSON.parse(text)\n',
      'src/main/agent/one/reader.test.ts': 'export const read = (text: string): unknown => JSON.parse(text)\n',
      'src/main/agent/one/loop.ts':
        'export async function run(stream: AsyncIterable<Buffer>): Promise<void> {\n  for await (const chunk of stream) write(chunk)\n}\n',
    }
    const repositories = "'src/main/**/*Repository.ts': 'rows'"
    expect(await checked(files, repositories)).toEqual({ exitCode: 0, stdout: '' })
    expect(await checked(files, `${repositories}, 'src/main/none.ts': 'no reason'`)).toEqual({
      exitCode: 1,
      stdout: 'src/main/none.ts no longer reads input. Remove the entry.\n',
    })
  })
})

describe('helper scripts', () => {
  const scripts = 'src/main/host/runtimes/scripts'
  const uses = (...parts: string[]) => ({
    'src/main/host/uses.ts': `export const script = buildPerlScript(${parts.map((it) => `'${it}'`).join(', ')})\n`,
  })
  const good = 'my $given = given();\nprint $given->{path};\n'

  async function compile(files: Record<string, string>) {
    const typescript = ['scripts/perlScripts.ts', `${scripts}/../perlScript.ts`, `${scripts}/../systemCallNumbers.ts`]
    const tools = [...typescript, `${scripts}/shared.pl`, `${scripts}/systemCalls.json`]
    const sources = Object.fromEntries(tools.map((path) => [path, readFileSync(`${projectFolder}${path}`, 'utf8')]))
    const step = checkSteps.find(({ name }) => name === 'helper scripts')
    const { exitCode, stdout } = await runTool(
      createTestProject({ ...sources, ...files }),
      step?.command ?? '',
      step?.parts ?? [],
    )
    return { exitCode, stdout }
  }

  test('pass if they compile', async () => {
    const files = { [`${scripts}/good.pl`]: good, ...uses('good') }
    expect(await compile(files)).toEqual({ exitCode: 0, stdout: '' })
  })

  test.each([
    ['does not parse', 'my $x = ;\n', 'syntax error at wrong.pl line 1'],
    ['names a variable that is not there', '\n$nothing = 1;\n', 'requires explicit package name'],
    ['declares a variable twice', 'my $x = 1;\nmy $x = 2;\nprint $x;\n', '"my" variable $x masks earlier declaration'],
    ['needs more than perl-base', 'use JSON::PP;\n', "Can't locate JSON/PP.pm"],
  ])('fail the check if one %s', async (_, text, message) => {
    const files = { [`${scripts}/good.pl`]: good, [`${scripts}/wrong.pl`]: text, ...uses('good', 'wrong') }
    const { exitCode, stdout } = await compile(files)
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: expect.stringContaining('shared + good + wrong: ') })
    expect(stdout).toContain(message)
  })

  test('fail the check if one is missing or unused', async () => {
    const { exitCode, stdout } = await compile({ [`${scripts}/good.pl`]: good, ...uses('gone') })
    expect({ exitCode, stdout }).toEqual({
      exitCode: 1,
      stdout: `shared + gone: Missing ${scripts}/gone.pl.\ngood: Unused script.\n`,
    })
  })
})

function imports(...sources: string[]): string {
  const lines = sources.map((source, index) => `import * as imported${index} from '${source}'`)
  const names = sources.map((_, index) => `imported${index}`)
  return `${lines.join('\n')}\nexport const target = [${names.join(', ')}]\n`
}

function ruleNames(): string[] {
  const config = createRequire(import.meta.url)(`${projectFolder}/.dependency-cruiser.cjs`) as {
    forbidden: { name: string }[]
  }
  return config.forbidden.map(({ name }) => name)
}

async function violationsIn(folder: string): Promise<{ rule: string; from: string }[]> {
  const parts = ['--config', '.dependency-cruiser.cjs', '--output-type', 'json', 'src']
  const { stdout } = await runTool(folder, 'depcruise', parts)
  const { summary } = JSON.parse(stdout) as { summary: { violations: { from: string; rule: { name: string } }[] } }
  return summary.violations.map(({ from, rule }) => ({ rule: rule.name, from }))
}
