import { AppError } from '#shared/appError.ts'
import type { DefaultNetwork, Network, RuntimeReport } from '#shared/contract/sandboxes.ts'

/**
 * Returns the requested runtime, or else the first available one in the configured order.
 * @throws AppError `runtime/unknown`, or `runtime/unavailable` with the missing requirement
 */
export function chooseRuntime(options: {
  requested: string | undefined
  order: readonly string[]
  reports: readonly RuntimeReport[]
}): RuntimeReport {
  const { requested, order, reports } = options
  if (requested !== undefined) {
    const report = reports.find(({ name }) => name === requested)
    if (!report) {
      const names = reports.map(({ name }) => `\`${name}\``).join(', ')
      throw new AppError(
        'runtime/unknown',
        `\`${requested.slice(0, 64)}\` is not a runtime of this service. Available runtimes: ${names}.`,
      )
    }
    return requireAvailable(report)
  }
  const ordered = order.flatMap((name) => reports.find((report) => report.name === name) ?? [])
  const [first] = ordered
  if (!first) throw new AppError('runtime/unavailable', 'No runtime is configured.')
  return ordered.find((report) => report.available) ?? requireAvailable(first)
}

export function chooseNetwork(defaultNetwork: DefaultNetwork, { networks }: Pick<RuntimeReport, 'networks'>): Network {
  if (defaultNetwork !== 'auto') return defaultNetwork
  return networks.includes('internet') ? 'internet' : 'none'
}

function requireAvailable(report: RuntimeReport): RuntimeReport {
  if (report.available) return report
  throw new AppError('runtime/unavailable', `The runtime ${report.name} cannot be used: ${report.detail}`)
}
