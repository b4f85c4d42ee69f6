import { readPrivateFile } from '#platform/files/privateFile.ts'
import { AppError } from '#shared/appError.ts'

/**
 * Reads the URL of the PostgreSQL database, which contains a password.
 * @param setting name of the setting that names the file, for errors
 * @returns undefined for SQLite
 * @throws AppError `config/invalid`. Its text does not quote the URL.
 */
export function readDatabaseUrl(
  { url_file: file }: { url_file: string | null },
  setting = '`service.database.url_file`',
): string | undefined {
  if (file === null) return undefined
  const names = `${setting} names ${file}`
  const text = readText(file, names).trim()
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^postgres(ql)?:$/.test(url.protocol) || url.pathname.length < 2) {
    throw new AppError('config/invalid', `${names}, which must contain postgresql://USER@HOST/DATABASE.`)
  }
  if (!isOnThisComputer(url) && url.searchParams.get('sslmode') !== 'verify-full') {
    throw new AppError(
      'config/invalid',
      `${names}, whose server is another computer. Add \`?sslmode=verify-full\`, and \`&sslrootcert=FILE\` for a private authority, so that nobody can read the password or the data.`,
    )
  }
  return text
}

/** Whether the server is reached through a Unix socket or the loopback interface. */
function isOnThisComputer({ hostname, searchParams }: URL): boolean {
  const host = searchParams.get('host') ?? decodeURIComponent(hostname)
  return host.startsWith('/') || ['', 'localhost', '[::1]', '::1'].includes(host) || /^127(\.\d+){3}$/.test(host)
}

function readText(file: string, names: string): string {
  try {
    return readPrivateFile(file)
  } catch (cause) {
    throw createUnreadableError(names, cause)
  }
}

function createUnreadableError(names: string, cause: unknown): AppError {
  const reason = cause instanceof Error ? cause.message : 'cannot be read.'
  return new AppError('config/invalid', `${names}, which ${reason}`, { cause })
}
