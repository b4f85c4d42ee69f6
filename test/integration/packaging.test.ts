import { createHash } from 'node:crypto'
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { extractAll, getRawHeader, listPackage } from '@electron/asar'
import { FuseState, FuseV1Options, getCurrentFuseWire } from '@electron/fuses'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Arch, build, Platform } from 'electron-builder'
import { beforeAll, describe, expect, test } from 'vitest'
import { createChainThread } from '#platform/chain/chainThread.ts'
import { silentLog } from '#platform/logging/log.ts'
import { createPackagingConfig, fuses } from '#scripts/packagingConfig.ts'
import { suiteForm } from '#scripts/suiteForms.ts'
import { evmNetworks } from '#shared/contract/networks.ts'
import { toolTable } from '#shared/contract/tools/toolTable.ts'
import { electronDistribution } from '../support/fixtures/electronDistribution.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { createEvmNode } from '../support/processes/evmNode.ts'

/**
 * Output of electron-builder for each platform. Electron's own binaries are stubs, so no program is started, signed or
 * built into an installer here. That requires the platform itself.
 */
type Packaged = { folder: string; program: string; archive: string }

async function packaged(platform: 'linux' | 'darwin' | 'win32', updateFeed?: string): Promise<Packaged> {
  const electronFolder = join(temporaryFolder('electron'), 'dist')
  const outputFolder = temporaryFolder('package')
  electronDistribution(electronFolder, platform)
  const target = { linux: Platform.LINUX, darwin: Platform.MAC, win32: Platform.WINDOWS }[platform]
  const config = createPackagingConfig({ outputFolder, electronFolder, updateFeed })
  await build({ targets: target.createTarget('dir', Arch.x64), publish: 'never', config })
  if (platform === 'darwin') {
    const folder = join(outputFolder, 'mac', 'Steward.app', 'Contents')
    return { folder, program: join(outputFolder, 'mac', 'Steward.app'), archive: join(folder, 'Resources', 'app.asar') }
  }
  const folder = join(outputFolder, platform === 'linux' ? 'linux-unpacked' : 'win-unpacked')
  const program = join(folder, platform === 'linux' ? 'steward' : 'Steward.exe')
  return { folder, program, archive: join(folder, 'resources', 'app.asar') }
}

/**
 * Computes the digest that Electron checks before it runs the archive:
 * https://www.electronjs.org/docs/latest/tutorial/asar-integrity
 */
const readDigest = (archive: string): string =>
  createHash('sha256').update(getRawHeader(archive).headerString).digest('hex')

const feed = 'https://updates.example/steward'
const packagesFeeds = { linux: feed, darwin: feed, win32: undefined } as const
type PlatformName = keyof typeof packagesFeeds
const platforms = (Object.keys(packagesFeeds) as PlatformName[]).filter((it) =>
  suiteForm.packagedPlatforms.includes(it),
)
const packages = new Map<PlatformName, Packaged>()
const packageFor = (platform: PlatformName): Packaged => {
  const entry = packages.get(platform)
  if (!entry) throw new Error(`There is no package for ${platform}.`)
  return entry
}

beforeAll(async () => {
  for (const platform of platforms) packages.set(platform, await packaged(platform, packagesFeeds[platform]))
}, 600_000)

describe.each(platforms)('the package for %s', (platform) => {
  let packaged: Packaged
  let files: string[]

  beforeAll(() => {
    packaged = packageFor(platform)
    files = listPackage(packaged.archive, { isPack: false }).map((path) => path.replaceAll('\\', '/'))
  })

  test('has every fuse set as configured', async () => {
    const fuseStates = await getCurrentFuseWire(packaged.program)
    for (const [fuse, isOn] of Object.entries(fuses)) {
      const state = fuseStates[Number(fuse) as FuseV1Options]
      expect(state, FuseV1Options[Number(fuse)]).toBe(isOn ? FuseState.ENABLE : FuseState.DISABLE)
    }
  })

  test('has its programs in the archive without their sources', () => {
    const programs = ['main', 'service', 'host', 'mcp', 'chainWorker', 'screenWorker', 'headless'].map(
      (name) => `/out/main/${name}.js`,
    )
    const pages = ['/out/renderer/index.html', '/out/renderer/terminal.html', '/out/preload/preload.cjs']
    const scripts = globSync('src/main/host/runtimes/scripts/*.pl').map((path) => `/out/main/scripts/${basename(path)}`)
    expect(scripts).toContain('/out/main/scripts/shared.pl')
    const expected = [...programs, ...scripts, ...pages, '/package.json', '/resources/icon.png']
    expect(files).toEqual(expect.arrayContaining(expected))
    for (const folder of ['/src', '/test', '/scripts', '/docs', '/out/compiled', '/resources/packaging', '/setup']) {
      expect(files.filter((path) => path === folder || path.startsWith(`${folder}/`))).toEqual([])
    }
    expect(files.filter((path) => /\.(map|ts|tsx)$/.test(path))).toEqual([])
    for (const name of ['electron', 'vite', 'typescript', 'playwright-core', 'react', 'node']) {
      expect(files).not.toContain(`/node_modules/${name}/package.json`)
    }
  })

  test('has the required modules and stores native modules as separate files', () => {
    const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: Record<string, string> }
    const bundled = ['find-my-way', 'viem', 'ws', 'zod']
    for (const name of Object.keys(manifest.dependencies).filter((it) => !bundled.includes(it))) {
      expect(files, name).toContain(`/node_modules/${name}/package.json`)
    }
    const unpacked = readdirSync(`${packaged.archive}.unpacked`, { recursive: true }).map(String)
    const native = unpacked.filter((path) => path.endsWith('.node')).map((path) => basename(path))
    expect(native).toContain(`${platform}-x64.node`)
    const others = ['darwin', 'linux', 'linuxmusl', 'win32'].filter((name) => name !== platform)
    expect(native.filter((name) => others.some((platform) => name.startsWith(`${platform}-`)))).toEqual([])
  })
})

describe('the package for linux, run by Node instead of Electron', () => {
  let programs: string

  beforeAll(() => {
    const folder = temporaryFolder('installed')
    extractAll(packageFor('linux').archive, folder)
    programs = join(folder, 'out/main')
  })

  test('steward-mcp starts Steward, lists the tools and calls them', { timeout: 200_000 }, async () => {
    const data = temporaryFolder('data')
    const client = new Client({ name: 'test', version: '1' })
    const env = { PATH: process.env.PATH ?? '', HOME: temporaryFolder('home') }
    const start = { command: process.execPath, args: [join(programs, 'mcp.js'), '--data', data], env }
    await client.connect(new StdioClientTransport(start))
    try {
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(toolTable.map(({ name }) => name))
      const { structuredContent, isError } = await client.callTool({ name: 'sandbox_list', arguments: {} })
      expect([structuredContent, isError ?? false]).toEqual([{ count: 0, sandboxes: [] }, false])
    } finally {
      await client.close()
    }
  })

  test('the chain worker reads balances from a chain', async () => {
    const [network] = evmNetworks
    const node = await createEvmNode(network)
    const thread = createChainThread({ log: silentLog, workerUrl: pathToFileURL(join(programs, 'chainWorker.js')) })
    try {
      const address = `0x${'2'.repeat(40)}`
      await node.mint(address, 1_250_000n)
      await node.setEther(address, 7n)
      const balances = await thread.chain({ network, rpcUrl: node.url }).balances([address])
      expect(balances).toEqual([{ usdc: 1_250_000n, ether: 7n }])
    } finally {
      await thread.close()
      await node.close()
    }
  })
})

test('checks for updates at the configured feed', () => {
  const update = readFileSync(join(packageFor('linux').archive, '..', 'app-update.yml'), 'utf8')
  expect(update).toContain('provider: generic')
  expect(update).toContain(`url: ${feed}`)
})

if (platforms.includes('darwin')) {
  test('the macOS package declares the digest of the archive', () => {
    const { folder, archive } = packageFor('darwin')
    const list = readFileSync(join(folder, 'Info.plist'), 'utf8')
    expect(list).toContain('<key>ElectronAsarIntegrity</key>')
    expect(list).toContain(`<string>${readDigest(archive)}</string>`)
  })
}

if (platforms.includes('win32')) {
  test('the program for Windows contains the archive digest and checks for no updates', () => {
    const { program, archive } = packageFor('win32')
    const entry = JSON.stringify([{ file: 'resources\\app.asar', alg: 'SHA256', value: readDigest(archive) }])
    expect(readFileSync(program).includes(entry, 0, 'latin1')).toBe(true)
    expect(existsSync(join(archive, '..', 'app-update.yml'))).toBe(false)
  })
}

test('every platform gets the same fuses and files with its own native modules', () => {
  const { mac, win, linux, asar, asarUnpack, electronFuses, publish } = createPackagingConfig({ outputFolder: 'dist' })
  expect([asar, asarUnpack, publish]).toEqual([true, ['**/*.node', '**/spawn-helper'], null])
  expect(Object.values(electronFuses ?? {})).toEqual(Object.values(fuses))
  const prebuilds = (files: unknown) => [files].flat().filter((value) => String(value).includes('prebuilds'))
  const others = (platform: string) =>
    ['darwin', 'linux', 'linuxmusl', 'win32']
      .filter((name) => name !== platform)
      .map((name) => `!node_modules/better-sqlite3/prebuilds/${name}-*.node`)
  expect(prebuilds(mac?.files)).toEqual(others('darwin'))
  expect(prebuilds(win?.files)).toEqual(others('win32'))
  expect(prebuilds(linux?.files)).toEqual(others('linux'))
  const listShared = (files: unknown) => [files].flat().filter((value) => !String(value).includes('prebuilds'))
  expect(listShared(mac?.files)).toEqual(listShared(linux?.files))
  expect(listShared(win?.files)).toEqual(listShared(linux?.files))
  expect(mac?.hardenedRuntime).toBe(true)
})

test('rejects an update feed without TLS', () => {
  expect(() => createPackagingConfig({ outputFolder: 'dist', updateFeed: 'http://updates.example' })).toThrow(
    'must be an https:// address',
  )
})
