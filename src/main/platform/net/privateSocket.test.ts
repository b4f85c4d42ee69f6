import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { claimSocket, connectPrivately, listenPrivately, releaseSocket, toSocketPath } from './privateSocket.ts'

const message = 'Somebody is there already.'

async function server(path: string) {
  const created = createServer((socket) => socket.end())
  onTestFinished(() => void created.close())
  await listenPrivately(created, path)
  return created
}

test('a long name gets a short stable address whose folder is removed with it', async () => {
  const requestedPath = join(temporaryFolder('long'), 'ü'.repeat(60), 'service.sock')
  const path = toSocketPath(requestedPath)
  expect([Buffer.byteLength(path) <= 100, dirname(dirname(path))]).toEqual([true, tmpdir()])
  expect(toSocketPath(requestedPath)).toBe(path)
  expect(toSocketPath(`${requestedPath}x`)).not.toBe(path)
  await claimSocket(path, message)
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700)
  await releaseSocket(path)
  expect(existsSync(dirname(path))).toBe(false)
})

test('only this user can open the socket', async () => {
  const path = join(temporaryFolder('socket'), 'inner', 'a.sock')
  await claimSocket(path, message)
  await server(path)
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const socket = connectPrivately(path)
  await once(socket, 'connect')
  socket.destroy()
})

test('does not claim a socket that accepts connections', async () => {
  const path = join(temporaryFolder('socket'), 'a.sock')
  await server(path)
  await expect(claimSocket(path, message)).rejects.toMatchObject({ code: 'data/in-use', message })
  expect(existsSync(path)).toBe(true)
})

test('removes a socket left by a killed process', async () => {
  const path = join(temporaryFolder('socket'), 'a.sock')
  const program = `require('node:net').createServer().listen(process.argv[1], () => console.log('there'))`
  const child = spawn(process.execPath, ['-e', program, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'close')
  expect(existsSync(path)).toBe(true)
  await claimSocket(path, message)
  await server(path)
  expect(statSync(path).isSocket()).toBe(true)
})

test.each([
  ['a file', (path: string) => writeFileSync(path, 'mine')],
  ['a folder', (path: string) => mkdirSync(path)],
])('%s at the socket path is not removed and is named in the error', async (_, create) => {
  const path = join(temporaryFolder('socket'), 'a.sock')
  create(path)
  await expect(claimSocket(path, message)).rejects.toMatchObject({
    code: 'data/unusable',
    message: `${path} exists and is not a Steward socket.`,
  })
  expect(existsSync(path)).toBe(true)
})

test('does not claim or query a socket in a folder of another user', async (context) => {
  if (process.getuid?.() !== 0) return context.skip('only root can give a folder to another user')
  const folder = temporaryFolder('foreign')
  const path = join(folder, 'a.sock')
  await server(path)
  chownSync(folder, 65_534, 65_534)
  await expect(claimSocket(path, message)).rejects.toMatchObject({ message: `${folder} belongs to another user.` })
  expect(() => connectPrivately(path)).toThrow(`${folder} belongs to another user.`)
})
