/**
 * Returns the models of an API key that no provider offers any longer.
 * @param available all models of the service; undefined while unknown
 */
export function findMissingModels(
  models: readonly string[] | null,
  available: readonly string[] | undefined,
): string[] {
  if (models === null || available === undefined) return []
  return models.filter((model) => !available.includes(model))
}
