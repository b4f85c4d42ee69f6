/**
 * Returns the models of a key that no provider offers any more.
 * @param available all models of the service; undefined while they are unknown
 */
export function findMissingModels(
  models: readonly string[] | null,
  available: readonly string[] | undefined,
): string[] {
  if (models === null || available === undefined) return []
  return models.filter((model) => !available.includes(model))
}
