import { appendFileSync, chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/**
 * Creates a folder with the layout of Electron's binaries for a platform, with stubs for the binaries. The packaged
 * files are real. Every fuse has the state in which Electron ships it.
 * @see https://www.electronjs.org/docs/latest/tutorial/application-distribution
 */
export function electronDistribution(folder: string, platform: 'linux' | 'darwin' | 'win32'): void {
  for (const name of ['LICENSE', 'LICENSES.chromium.html', 'version']) writeFile(folder, name, '45.4.1')
  if (platform === 'linux') {
    program(folder, 'electron')
    for (const name of ['chrome-sandbox', 'chrome_crashpad_handler', 'libffmpeg.so']) writeFile(folder, name, name)
    for (const name of ['icudtl.dat', 'resources.pak', 'locales/en-US.pak']) writeFile(folder, name, name)
  } else if (platform === 'win32') {
    // Windows stores the digest of the archive in a resource of the executable, which requires a real one.
    const stub = join(dirname(createRequire(import.meta.url).resolve('electron-winstaller')), '../vendor/Setup.exe')
    mkdirSync(folder, { recursive: true })
    copyFileSync(stub, join(folder, 'electron.exe'))
    appendFileSync(join(folder, 'electron.exe'), wire)
    for (const name of ['icudtl.dat', 'resources.pak', 'locales/en-US.pak']) writeFile(folder, name, name)
  } else {
    const contents = 'Electron.app/Contents'
    writeFile(folder, `${contents}/Info.plist`, propertyList('Electron', 'com.github.Electron'))
    writeFile(folder, `${contents}/MacOS/Electron`, 'electron')
    writeFile(folder, `${contents}/Resources/electron.icns`, 'icon')
    program(folder, `${contents}/Frameworks/Electron Framework.framework/Electron Framework`)
    for (const kind of ['', ' (Renderer)', ' (Plugin)', ' (GPU)']) {
      const name = `Electron Helper${kind}`
      writeFile(
        folder,
        `${contents}/Frameworks/${name}.app/Contents/Info.plist`,
        propertyList(name, 'com.github.Electron.helper'),
      )
      writeFile(folder, `${contents}/Frameworks/${name}.app/Contents/MacOS/${name}`, name)
    }
  }
}

/**
 * Fuses in the format that tools search for: a sentinel, version 1, the number of fuses, and one character per state.
 */
const wire = Buffer.concat([
  Buffer.from('dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX', 'latin1'),
  Buffer.from([1, 9]),
  Buffer.from('101100110', 'latin1'),
])

function writeFile(folder: string, path: string, content: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), content)
}

function program(folder: string, path: string): void {
  writeFile(folder, path, '')
  appendFileSync(join(folder, path), wire)
  chmodSync(join(folder, path), 0o755)
}

function propertyList(name: string, identifier: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>
  <key>CFBundleExecutable</key><string>${name}</string>
  <key>CFBundleIdentifier</key><string>${identifier}</string>
  <key>CFBundleName</key><string>${name}</string>
</dict></plist>
`
}
