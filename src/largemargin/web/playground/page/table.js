export async function tables() { return false; }
