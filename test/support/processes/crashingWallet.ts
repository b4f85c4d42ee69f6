import fileSystem from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import SqliteDatabase from 'better-sqlite3'

/** Changes the wallet of a folder and kills itself before the `at`-th file rename, or before the row is written. */
const [folder = '', action = '', crashPoint = ''] = process.argv.slice(2)
const passphrase = 'correct horse battery'

const die = async (): Promise<never> => {
  process.kill(process.pid, 'SIGKILL')
  return new Promise(() => {})
}

if (crashPoint === 'row') {
  const { prepare } = SqliteDatabase.prototype
  SqliteDatabase.prototype.prepare = function (this: SqliteDatabase.Database, text: string) {
    const statement = prepare.call(this, text)
    if (text.startsWith('INSERT INTO keyrings')) statement.run = () => process.kill(process.pid, 'SIGKILL') as never
    return statement
  } as typeof prepare
} else {
  const { rename } = fileSystem
  let remaining = Number(crashPoint)
  fileSystem.rename = async (from, to) => {
    remaining -= 1
    return remaining === 0 ? die() : rename(from, to)
  }
  syncBuiltinESMExports()
}

const { openTestWallet } = await import('../fixtures/openTestWallet.ts')
const { wallet } = openTestWallet({ folder })
const [first] = (await wallet.status()).keyrings
if (action === 'create') {
  const phrase = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about'
  await wallet.addPhrase({ phrase, writtenDown: true, passphrase, label: 'Second' })
} else if (action === 'remove' && first) {
  await wallet.remove(first.id, { typedLabel: first.label, passphrase })
} else if (action === 'change') {
  await wallet.changePassphrase({ from: passphrase, to: 'another horse battery' })
}
process.stdout.write('It was not killed.\n')
process.exit(1)
