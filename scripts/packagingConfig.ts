import { FuseV1Options } from '@electron/fuses'
import type { Configuration } from 'electron-builder'

/**
 * Fuses inside the Electron binary that no argument or environment variable can re-enable.
 * @see https://www.electronjs.org/docs/latest/tutorial/fuses
 */
export const fuses = {
  // The service and the sandbox host run this binary as Node, see docs/decisions/0006.
  [FuseV1Options.RunAsNode]: true,
  [FuseV1Options.EnableCookieEncryption]: true,
  [FuseV1Options.EnableNodeOptionsEnvironmentVariable]: false,
  [FuseV1Options.EnableNodeCliInspectArguments]: false,
  [FuseV1Options.EnableEmbeddedAsarIntegrityValidation]: true,
  [FuseV1Options.OnlyLoadAppFromAsar]: true,
  [FuseV1Options.LoadBrowserProcessSpecificV8Snapshot]: false,
  [FuseV1Options.GrantFileProtocolExtraPrivileges]: false,
} as const

export type PackagingOptions = {
  outputFolder: string
  /** Folder with Electron binaries for the platform. Defaults to electron-builder's download. */
  electronFolder?: string | undefined
  /** HTTPS address where installed copies check for updates. Defaults to no updates. */
  updateFeed?: string | undefined
}

/**
 * Creates the electron-builder configuration for `out/`. Signing uses its environment variables: `CSC_LINK` and
 * `CSC_KEY_PASSWORD` (or `WIN_CSC_…`), and `APPLE_API_KEY…` for notarization (https://www.electron.build/code-signing).
 */
export function createPackagingConfig({ outputFolder, electronFolder, updateFeed }: PackagingOptions): Configuration {
  return {
    appId: 'app.steward.desktop',
    productName: 'Steward',
    directories: { output: outputFolder, buildResources: 'resources/packaging' },
    ...(electronFolder !== undefined && { electronDist: electronFolder }),
    // Native modules ship prebuilt binaries.
    npmRebuild: false,
    asar: true,
    // The operating system loads libraries only from files outside the archive.
    asarUnpack: ['**/*.node', '**/spawn-helper'],
    electronFuses: {
      runAsNode: fuses[FuseV1Options.RunAsNode],
      enableCookieEncryption: fuses[FuseV1Options.EnableCookieEncryption],
      enableNodeOptionsEnvironmentVariable: fuses[FuseV1Options.EnableNodeOptionsEnvironmentVariable],
      enableNodeCliInspectArguments: fuses[FuseV1Options.EnableNodeCliInspectArguments],
      enableEmbeddedAsarIntegrityValidation: fuses[FuseV1Options.EnableEmbeddedAsarIntegrityValidation],
      onlyLoadAppFromAsar: fuses[FuseV1Options.OnlyLoadAppFromAsar],
      loadBrowserProcessSpecificV8Snapshot: fuses[FuseV1Options.LoadBrowserProcessSpecificV8Snapshot],
      grantFileProtocolExtraPrivileges: fuses[FuseV1Options.GrantFileProtocolExtraPrivileges],
    },
    publish: updateFeed === undefined ? null : { provider: 'generic', url: secure(updateFeed) },
    linux: {
      files: listFiles('linux'),
      // For users who run an AppImage or a clone on Ubuntu.
      extraResources: [{ from: 'resources/packaging/apparmor', to: 'apparmor' }],
      target: ['deb', 'AppImage'],
      executableName: 'steward',
      icon: 'resources/icon.png',
      category: 'Development',
      synopsis: 'Sandboxes, models, domains and a wallet for you and your agents',
      maintainer: 'Steward <packages@steward.invalid>',
      vendor: 'Steward',
    },
    deb: {
      // electron-builder's scripts install resources/apparmor-profile. It allows user namespaces, which Ubuntu denies
      // to programs without a profile. Programs that Steward starts, such as bwrap, inherit the profile.
      depends: [
        'libgtk-3-0',
        'libnss3',
        'libasound2',
        'libsecret-1-0',
        'bubblewrap',
        'perl-base',
        'mount',
        'util-linux',
      ],
      recommends: ['passt', 'nftables', 'e2fsprogs', 'uidmap', 'mmdebstrap', 'gnome-keyring'],
      packageCategory: 'utils',
    },
    mac: {
      files: listFiles('darwin'),
      target: ['dmg'],
      icon: 'resources/icon.icns',
      category: 'public.app-category.developer-tools',
      hardenedRuntime: true,
      gatekeeperAssess: false,
      entitlements: 'resources/packaging/entitlements.plist',
      entitlementsInherit: 'resources/packaging/entitlements.plist',
    },
    win: { files: listFiles('win32'), target: ['nsis'], icon: 'resources/icon.ico' },
    nsis: {
      oneClick: false,
      perMachine: false,
      allowToChangeInstallationDirectory: true,
      deleteAppDataOnUninstall: false,
    },
  }
}

const files = [
  'package.json',
  'out/{main,preload,renderer}/**',
  'resources/*.{png,json}',
  '!node_modules/better-sqlite3/{deps,src}',
  // The bundle contains the required parts of viem in one file.
  '!node_modules/viem/**',
  '!**/*.{map,ts,mts,cts,tsbuildinfo,c,cc,cpp,h,gyp,gypi}',
  '!**/{README,CHANGELOG,readme,changelog}*',
  '!**/{test,tests,__tests__,example,examples,docs,.github}/**',
]

/** Lists the files for a platform, excluding prebuilt binaries for other platforms. */
function listFiles(platform: string): string[] {
  const others = ['darwin', 'linux', 'linuxmusl', 'win32'].filter((name) => name !== platform)
  return [...files, ...others.map((name) => `!node_modules/better-sqlite3/prebuilds/${name}-*.node`)]
}

function secure(feed: string): string {
  if (!URL.canParse(feed) || new URL(feed).protocol !== 'https:') {
    throw new Error(`The update feed must be an https:// address, not ${JSON.stringify(feed)}.`)
  }
  return feed
}
