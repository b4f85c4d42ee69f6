import { once } from 'node:events'
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { expect, test } from 'vitest'
import { until } from '../support/assertions/eventually.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { projectFolder } from '../support/fixtures/testProject.ts'
import { startProgram } from '../support/processes/program.ts'
import { testTls } from '../support/tls/tlsFiles.ts'

/** Runs the service as systemd does: standalone, without a terminal. */
test('replaces the certificate for new connections on SIGHUP without closing open ones', async () => {
  const data = temporaryFolder('data')
  const [certificate, key] = [join(data, 'certificate.pem'), join(data, 'key.pem')]
  writeFileSync(certificate, testTls.cert)
  writeFileSync(key, testTls.key, { mode: 0o600 })
  const tls = { cert_file: certificate, key_file: key }
  writeFileSync(join(data, 'config.json'), JSON.stringify({ service: { tls } }))
  const service = startProgram('src/main/entries/service.ts', ['--json', '--data', data, '--listen', '127.0.0.1:0'])
  const { url } = await service.ready<{ url: string }>()
  const port = Number(new URL(url).port)
  const open = await openConnection(port)
  expect(readSubject(open)).toBe('localhost')

  copyFileSync(join(projectFolder, 'test/support/tls/certificate.pem'), certificate)
  copyFileSync(join(projectFolder, 'test/support/tls/key.pem'), key)
  process.kill(service.pid, 'SIGHUP')
  await until('the reload is logged', () => service.stderr().includes('TLS certificate reloaded'))
  expect(await subjectOfNew(port)).toBe('steward.test')

  writeFileSync(certificate, 'no certificate')
  process.kill(service.pid, 'SIGHUP')
  await until('the failure is logged', () => service.stderr().includes('still using the current one'))
  expect(await subjectOfNew(port)).toBe('steward.test')

  open.write('GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  const [answer] = (await once(open, 'data')) as [Buffer]
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /)
  open.destroy()
  await service.end('SIGTERM')
  expect(service.stderr()).toContain('service shutting down')
})

async function openConnection(port: number): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  return socket
}

async function subjectOfNew(port: number): Promise<string> {
  const socket = await openConnection(port)
  const subject = readSubject(socket)
  socket.destroy()
  return subject
}

function readSubject(socket: TLSSocket): string {
  return [socket.getPeerCertificate().subject.CN].flat().join()
}
