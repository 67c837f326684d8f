"""The sentences that a voice is checked with: captions of five words or more, without figures, in each language."""

from __future__ import annotations

SENTENCES: dict[str, tuple[str, ...]] = {
    "en": (
        "a man rides a brown horse along the beach",
        "two dogs play in the snow near a wooden fence",
        "the view from the tower, with twelve boats in the harbour",
        "a young woman reads a newspaper in a small cafe",
        "children are flying kites on a windy afternoon",
        "an old bridge over the river at sunset",
        "the chef slices fresh vegetables in a bright kitchen",
        "a red bus stops in front of the museum",
        "people walk under umbrellas on a rainy street",
        "mountains and pine trees are reflected in the quiet lake",
    ),
    "pt": (
        "um homem anda a cavalo na praia",
        "dois cães brincam na neve perto de uma cerca",
        "a vista da torre com doze barcos no porto",
        "uma jovem lê o jornal em um pequeno café",
        "as crianças soltam pipas em uma tarde de vento",
        "uma ponte antiga sobre o rio ao pôr do sol",
        "o cozinheiro corta legumes frescos em uma cozinha clara",
        "um ônibus vermelho para na frente do museu",
        "pessoas caminham com guarda-chuvas em uma rua molhada",
        "as montanhas e os pinheiros se refletem no lago calmo",
    ),
    "fr": (
        "un homme monte un cheval brun sur la plage",
        "deux chiens jouent dans la neige près d'une barrière",
        "la vue de la tour, avec douze bateaux dans le port",
        "une jeune femme lit le journal dans un petit café",
        "des enfants jouent avec des cerfs-volants sur la colline",
        "un vieux pont sur la rivière au coucher du soleil",
        "le cuisinier coupe des légumes frais dans une cuisine claire",
        "un autobus rouge s'arrête devant le musée",
        "des gens marchent sous la pluie dans une rue étroite",
        "les montagnes et les sapins se reflètent dans le lac",
    ),
    "es": (
        "un hombre monta un caballo marrón en la playa",
        "dos perros juegan en la nieve cerca de una valla",
        "la vista de la torre con doce barcos en el puerto",
        "una mujer joven lee el periódico en un café pequeño",
        "los niños vuelan cometas en una tarde de viento",
        "un puente antiguo sobre el río al atardecer",
        "el cocinero corta verduras frescas en una cocina luminosa",
        "un autobús rojo se detiene delante del museo",
        "la gente camina bajo la lluvia en una calle estrecha",
        "las montañas y los pinos se reflejan en el lago tranquilo",
    ),
}
"""ISO 639-1 → sentences, as the text normalisation leaves them."""
